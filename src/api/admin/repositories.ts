import { createRoute, z } from "@hono/zod-openapi";

import { requestCollection } from "../../domain/repos/repository/request-collection.ts";
import { creationForOther } from "../../domain/repos/repository/find-creation-context.ts";
import { createRepository } from "../../domain/repos/repository/create-repository.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { empty, json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { ownerForAdmin } from "../guards/account.ts";
import { requireUser } from "../guards/guard.ts";
import { siteAdmin } from "../guards/people.ts";
import { CreateRepository, toNewRepository } from "../repos/create-repository-body.ts";
import { RepoPath } from "../repos/paths.ts";
import { UserPath } from "../users/paths.ts";

export const adminRepositories = endpoints();

adminRepositories.openapi(
  createRoute({
    method: "post",
    path: "/admin/users/{username}/repos",
    operationId: "adminCreateRepo",
    tags: ["admin"],
    summary: "Create a repository for a user or an organization",
    description: "The owner's maximum number of repositories does not apply.",
    middleware: [ownerForAdmin("write:admin")] as const,
    request: {
      params: UserPath,
      body: { required: true, ...json(CreateRepository, "The repository") },
    },
    responses: {
      201: json(Repository, "The new repository"),
      ...refusals(400, 401, 403, 404, 409, 422),
    },
  }),
  async (c) => {
    const { ctx, account: owner, viewer } = c.var;
    const creation = creationForOther(owner, requireUser(ctx.actor));
    const repo = await createRepository(ctx, creation, toNewRepository(c.req.valid("json")));
    return c.json(toRepository(repo, viewer), 201);
  },
);

const CollectObjects = z.object({
  grace_days: z.int().min(0).max(36_500).optional().openapi({
    description:
      "Days for which objects stay that a ref reached; the service's setting if it is missing, 0 for none",
  }),
});

adminRepositories.openapi(
  createRoute({
    method: "post",
    path: "/admin/repos/{owner}/{repo}/gc",
    operationId: "adminCollectRepository",
    tags: ["admin"],
    summary:
      "Remove objects that no ref reaches from the storage of a repository and of its network",
    description:
      "An extension. The search runs in the background. What it removes is deleted a day later, when nobody reads it any more.",
    middleware: [siteAdmin("write:admin")] as const,
    request: {
      params: RepoPath,
      body: json(CollectObjects, "What is to stay"),
    },
    responses: { 202: empty("The search is queued"), ...refusals(400, 401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const { owner, repo } = c.req.valid("param");
    await requestCollection(ctx, owner, repo, c.req.valid("json").grace_days);
    return c.body(null, 202);
  },
);
