import { createRoute, z } from "@hono/zod-openapi";

import { listStargazers } from "../../domain/repos/repository/list-stars-and-watches.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { refusals, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const stargazers = endpoints();

stargazers.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/stargazers",
    operationId: "repoListStargazers",
    tags: ["repository"],
    summary: "List a repository's stargazers",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(User), "The users, by id"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => answerPage(c, ({ ctx, repo }, slice) => listStargazers(ctx, repo.row, slice), toUser),
);
