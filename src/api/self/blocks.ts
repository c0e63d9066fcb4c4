import { createRoute, z } from "@hono/zod-openapi";

import {
  createBlock,
  deleteBlock,
  findBlocked,
  listBlocked,
} from "../../domain/people/accounts/block.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccountSignedIn } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { answerPage, check, done } from "../handlers.ts";
import { Paging } from "../paging.ts";
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
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    return answerPage(c, ({ ctx, user }, slice) => listBlocked(ctx, user, slice), toUser);
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
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    return check(c, ({ ctx, user }) => findBlocked(ctx, user, c.req.valid("param").username));
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
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    const { note } = c.req.valid("query");
    return done(c, ({ ctx, user, account }) => createBlock(ctx, user, account, note));
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
  (c) => {
    refusePublicOnly(c.var.ctx.actor);
    return done(c, ({ ctx, user }) => deleteBlock(ctx, user, c.req.valid("param").username));
  },
);
