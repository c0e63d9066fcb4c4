import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import type { Membership } from "../../domain/people/accounts/find-account.ts";
import { createRepository } from "../../domain/repos/repository/create-repository.ts";
import { listRepositoriesOf } from "../../domain/repos/repository/list-repositories.ts";
import { forbidden, unauthenticated } from "../../lib/failure.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { CreateRepository, toNewRepository } from "../repos/create-repository-body.ts";
import { OrgPath } from "./paths.ts";

export const organizationRepositories = endpoints();

const created = {
  201: json(Repository, "The new repository"),
  ...refusals(400, 401, 403, 404, 409, 422),
};

organizationRepositories.openapi(
  createRoute({
    method: "post",
    path: "/org/{org}/repos",
    operationId: "createOrgRepo",
    tags: ["organization"],
    summary: "Create a repository in an organization",
    description: "An unknown organization is answered 422.",
    middleware: [
      inOrg(["write:organization", "write:repository"], {
        allowsAnonymous: false,
        unknown: "invalid",
      }),
    ] as const,
    request: {
      params: OrgPath,
      body: { required: true, ...json(CreateRepository, "The repository") },
    },
    responses: created,
  }),
  async (c) => {
    const { ctx, org, membership, viewer } = c.var;
    const repo = await createInOrganization(ctx, org, membership, c.req.valid("json"));
    return c.json(toRepository(repo, viewer), 201);
  },
);

organizationRepositories.openapi(
  createRoute({
    method: "post",
    path: "/orgs/{org}/repos",
    operationId: "orgCreateRepo",
    tags: ["organization"],
    summary: "Create a repository in an organization",
    description:
      "The same as `POST /org/{org}/repos`, but an unknown organization is answered 404.",
    middleware: [inOrg("write:organization", { allowsAnonymous: false })] as const,
    request: {
      params: OrgPath,
      body: { required: true, ...json(CreateRepository, "The repository") },
    },
    responses: created,
  }),
  async (c) => {
    const { ctx, org, membership, viewer } = c.var;
    const repo = await createInOrganization(ctx, org, membership, c.req.valid("json"));
    return c.json(toRepository(repo, viewer), 201);
  },
);

async function createInOrganization(
  ctx: Ctx,
  org: User,
  membership: Membership,
  input: z.infer<typeof CreateRepository>,
) {
  const { user } = ctx.actor;
  if (!user) throw unauthenticated("token is required");
  if (!membership.canCreateRepository) {
    throw forbidden("Given user is not allowed to create repository in organization.");
  }
  return createRepository(
    ctx,
    { owner: org, creator: user, ownsOwner: membership.isOwner },
    toNewRepository(input),
  );
}

organizationRepositories.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/repos",
    operationId: "orgListRepos",
    tags: ["organization"],
    summary: "List an organization's repositories",
    middleware: [inOrg("read:organization", { allowsAnonymous: true })] as const,
    request: { params: OrgPath, query: Paging },
    responses: {
      200: page(z.array(Repository), "The repositories, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => answerPage(c, ({ ctx, org }, slice) => listRepositoriesOf(ctx, org, slice), toRepository),
);
