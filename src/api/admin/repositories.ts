import { createRoute } from "@hono/zod-openapi";

import { createRepository } from "../../domain/repos/create-repository.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { userForAdmin } from "../guards/account.ts";
import { requireUser } from "../guards/guard.ts";
import { CreateRepository } from "../repos/create-repository-body.ts";
import { UserPath } from "../users/paths.ts";

export const adminRepositories = endpoints();

adminRepositories.openapi(
  createRoute({
    method: "post",
    path: "/admin/users/{username}/repos",
    operationId: "adminCreateRepo",
    tags: ["admin"],
    summary: "Create a repository for a user",
    description: "The user's maximum number of repositories does not apply.",
    middleware: [userForAdmin("write:admin")] as const,
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
    const creation = {
      owner,
      creator: requireUser(ctx.actor),
      ownsOwner: true,
      isUnlimited: true,
    };
    const repo = await createRepository(ctx, creation, c.req.valid("json"));
    return c.json(toRepository(repo, viewer), 201);
  },
);
