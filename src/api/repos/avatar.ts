import { createRoute } from "@hono/zod-openapi";

import { deleteAvatar, setAvatar } from "../../domain/people/avatars/change-avatar.ts";
import { empty, refusals } from "../answers.ts";
import { repositoryAvatar } from "../avatar-body.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { takesFiles } from "../json-body.ts";
import { RepoPath } from "./paths.ts";

export const repositoryAvatarRoutes = endpoints();

repositoryAvatarRoutes.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/avatar",
    operationId: "repoUpdateAvatar",
    tags: ["repository"],
    summary: "Set a repository's avatar",
    middleware: [inRepo("write:repository", { mode: "admin" }), takesFiles] as const,
    request: { params: RepoPath, body: repositoryAvatar },
    responses: {
      204: empty("The avatar was set"),
      ...refusals(400, 401, 403, 404, 413, 422),
    },
  }),
  (c) =>
    done(c, ({ ctx, repo }) =>
      setAvatar(ctx, { kind: "repository", repo }, c.req.valid("json").image),
    ),
);

repositoryAvatarRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/avatar",
    operationId: "repoDeleteAvatar",
    tags: ["repository"],
    summary: "Remove a repository's avatar",
    description: "Then the repository has none.",
    middleware: [inRepo("write:repository", { mode: "admin" })] as const,
    request: { params: RepoPath },
    responses: { 204: empty("There is no uploaded avatar"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, repo }) => deleteAvatar(ctx, { kind: "repository", repo })),
);
