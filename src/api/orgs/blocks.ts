import { createRoute, z } from "@hono/zod-openapi";

import {
  createBlock,
  deleteBlock,
  findBlocked,
  listBlocked,
} from "../../domain/people/accounts/block.ts";
import { findSeenAccount } from "../../domain/people/accounts/find-account.ts";
import { notFound } from "../../lib/failure.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { answerPage, check, done } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { BlockQuery } from "../self/block-query.ts";
import { refusePublicOnly } from "../self/public-only.ts";
import { UserPath } from "../users/paths.ts";
import { OrgPath } from "./paths.ts";

export const organizationBlocks = endpoints();

const BlockPath = OrgPath.extend(UserPath.shape);
const byOwner = { allowsAnonymous: false, needs: "ownership" } as const;

organizationBlocks.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/blocks",
    operationId: "organizationListBlocks",
    tags: ["organization"],
    summary: "List the users an organization blocks",
    description: "Only owners of the organization may list them.",
    middleware: [inOrg("read:organization", byOwner)] as const,
    request: { params: OrgPath, query: Paging },
    responses: {
      200: page(z.array(User), "The users, latest block first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    return answerPage(c, ({ ctx, org }, slice) => listBlocked(ctx, org, slice), toUser);
  },
);

organizationBlocks.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/blocks/{username}",
    operationId: "organizationCheckUserBlock",
    tags: ["organization"],
    summary: "Check whether an organization blocks a user",
    middleware: [inOrg("read:organization", byOwner)] as const,
    request: { params: BlockPath },
    responses: {
      204: empty("The organization blocks the user"),
      ...refusals(401, 403),
      404: empty("The organization does not block the user, or there is no such user"),
    },
  }),
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    return check(c, ({ ctx, org }) => findBlocked(ctx, org, c.req.valid("param").username));
  },
);

organizationBlocks.openapi(
  createRoute({
    method: "put",
    path: "/orgs/{org}/blocks/{username}",
    operationId: "organizationBlockUser",
    tags: ["organization"],
    summary: "Block a user from an organization",
    description:
      "Members can't be blocked. Stars, watches, roles of collaborators and pending transfers between the two end.",
    middleware: [inOrg("write:organization", byOwner)] as const,
    request: { params: BlockPath, query: BlockQuery },
    responses: {
      204: empty("The organization blocks the user"),
      ...refusals(400, 401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    refusePublicOnly(ctx.actor);
    const user = await findSeenAccount(ctx, c.req.valid("param").username);
    if (!user) throw notFound();
    await createBlock(ctx, org, user, c.req.valid("query").note);
    return c.body(null, 204);
  },
);

organizationBlocks.openapi(
  createRoute({
    method: "delete",
    path: "/orgs/{org}/blocks/{username}",
    operationId: "organizationUnblockUser",
    tags: ["organization"],
    summary: "Unblock a user from an organization",
    middleware: [inOrg("write:organization", byOwner)] as const,
    request: { params: BlockPath },
    responses: {
      204: empty("The organization does not block the user"),
      ...refusals(400, 401, 403, 404),
    },
  }),
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    return done(c, ({ ctx, org }) => deleteBlock(ctx, org, c.req.valid("param").username));
  },
);
