import { createRoute, z } from "@hono/zod-openapi";

import { listStargazers } from "../../domain/repos/list-marks.ts";
import { User, toUser } from "../../shapes/user.ts";
import { refusals, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guard.ts";
import { Paging, announcePage, readPage } from "../paging.ts";
import { RepoPath } from "./paths.ts";

export const stargazers = endpoints();

stargazers.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/stargazers",
    operationId: "repoListStargazers",
    tags: ["repository"],
    summary: "List who has starred a repository",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(User), "By id"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, entry, viewer } = c.var;
    const slice = readPage(ctx.config, c.req.valid("query"));
    const { items, total } = await listStargazers(ctx, entry.repo, slice);
    announcePage(c, slice, total);
    return c.json(
      items.map((user) => toUser(user, viewer)),
      200,
    );
  },
);
