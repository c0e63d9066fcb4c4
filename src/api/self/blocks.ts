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
import { atAccountSignedIn } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { Paging, pageOf } from "../paging.ts";
import { UserPath } from "../users/paths.ts";
import { BlockQuery } from "./block-query.ts";
import { refusePublicOnly } from "./public-only.ts";

export const blocks = endpoints();

blocks.openapi(
  createRoute({
    method: "get",
    path: "/user/blocks",
    operationId: "userListBlocks",
    tags: ["user"],
    summary: "List the users you block",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: { 200: page(z.array(User), "The users, latest block first"), ...refusals(401, 403) },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    refusePublicOnly(ctx.actor);
    const items = await pageOf(c, c.req.valid("query"), (slice) => listBlocked(ctx, user, slice));
    return c.json(
      items.map((each) => toUser(each, viewer)),
      200,
    );
  },
);

blocks.openapi(
  createRoute({
    method: "get",
    path: "/user/blocks/{username}",
    operationId: "userCheckUserBlock",
    tags: ["user"],
    summary: "Check whether you block a user",
    middleware: [signedIn("read:user")] as const,
    request: { params: UserPath },
    responses: {
      204: empty("You block the user"),
      ...refusals(401, 403),
      404: empty("You do not block the user, or there is no such user"),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    if (!(await findBlocked(ctx, user, c.req.valid("param").username))) throw notFound();
    return c.body(null, 204);
  },
);

blocks.openapi(
  createRoute({
    method: "put",
    path: "/user/blocks/{username}",
    operationId: "userBlockUser",
    tags: ["user"],
    summary: "Block a user",
    description:
      "The user may still read what is public. Follows, stars, watches, roles of collaborators and pending transfers between the two of you end.",
    middleware: [atAccountSignedIn("write:user")] as const,
    request: { params: UserPath, query: BlockQuery },
    responses: { 204: empty("You block the user"), ...refusals(400, 401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, user, account } = c.var;
    refusePublicOnly(ctx.actor);
    await createBlock(ctx, user, account, c.req.valid("query").note);
    return c.body(null, 204);
  },
);

blocks.openapi(
  createRoute({
    method: "delete",
    path: "/user/blocks/{username}",
    operationId: "userUnblockUser",
    tags: ["user"],
    summary: "Unblock a user",
    description: "What the block ended does not come back.",
    middleware: [signedIn("write:user")] as const,
    request: { params: UserPath },
    responses: { 204: empty("You do not block the user"), ...refusals(400, 401, 403, 404) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const { username } = c.req.valid("param");
    // A blocked user is found even if the account has become private.
    const [blocked, seen] = await Promise.all([
      findBlocked(ctx, user, username),
      findSeenAccount(ctx, username),
    ]);
    const account = blocked ?? seen;
    if (!account) throw notFound();
    await deleteBlock(ctx, user, account);
    return c.body(null, 204);
  },
);
