import { createRoute, z } from "@hono/zod-openapi";

import { hasToggle } from "../../domain/repos/repository/has-toggle.ts";
import { listStarred } from "../../domain/repos/repository/list-stars-and-watches.ts";
import { createToggle, deleteToggle } from "../../domain/repos/repository/toggle.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { signedInRepo } from "../guards/repository.ts";
import { answerPage, check, done } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { UserPath } from "../users/paths.ts";

export const stars = endpoints();

const starredPage = page(z.array(Repository), "The repositories, most recently starred first");

stars.openapi(
  createRoute({
    method: "get",
    path: "/user/starred",
    operationId: "userCurrentListStarred",
    tags: ["user"],
    summary: "List the repositories you have starred",
    middleware: [signedIn("read:user", "read:repository")] as const,
    request: { query: Paging },
    responses: { 200: starredPage, ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx, user }, slice) => listStarred(ctx, user, slice), toRepository),
);

stars.openapi(
  createRoute({
    method: "get",
    path: "/user/starred/{owner}/{repo}",
    operationId: "userCurrentCheckStarring",
    tags: ["user"],
    summary: "Check whether you have starred a repository",
    middleware: [signedInRepo(["read:user", "read:repository"])] as const,
    request: { params: RepoPath },
    responses: {
      204: empty("You have starred the repository"),
      ...refusals(401, 403),
      404: empty("You have not starred the repository, or it is not visible to you"),
    },
  }),
  (c) => check(c, ({ ctx, repo, user }) => hasToggle(ctx, "star", user, repo.row)),
);

stars.openapi(
  createRoute({
    method: "put",
    path: "/user/starred/{owner}/{repo}",
    operationId: "userCurrentPutStar",
    tags: ["user"],
    summary: "Star a repository",
    middleware: [signedInRepo(["write:user", "write:repository"])] as const,
    request: { params: RepoPath },
    responses: { 204: empty("The repository is starred"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, repo, user }) => createToggle(ctx, "star", user, repo.row)),
);

stars.openapi(
  createRoute({
    method: "delete",
    path: "/user/starred/{owner}/{repo}",
    operationId: "userCurrentDeleteStar",
    tags: ["user"],
    summary: "Unstar a repository",
    middleware: [signedInRepo(["write:user", "write:repository"])] as const,
    request: { params: RepoPath },
    responses: { 204: empty("The repository is not starred"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, repo, user }) => deleteToggle(ctx, "star", user, repo.row)),
);

stars.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/starred",
    operationId: "userListStarred",
    tags: ["user"],
    summary: "List the repositories a user has starred",
    middleware: [atAccount("read:user", { allowsAnonymous: false })] as const,
    request: { params: UserPath, query: Paging },
    responses: { 200: starredPage, ...refusals(401, 403, 404) },
  }),
  (c) => answerPage(c, ({ ctx, account }, slice) => listStarred(ctx, account, slice), toRepository),
);
