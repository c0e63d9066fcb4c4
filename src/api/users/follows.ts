import { createRoute, z } from "@hono/zod-openapi";

import { createFollow, deleteFollow } from "../../domain/people/accounts/follow.ts";
import {
  isFollowing,
  listFollowers,
  listFollowing,
} from "../../domain/people/accounts/list-accounts.ts";
import { notFound, unauthenticated } from "../../lib/failure.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount, atAccountSignedIn } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { answerPage, check, done } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { UserPath } from "./paths.ts";

export const follows = endpoints();

const usersPage = page(z.array(User), "The users, by login name");

follows.openapi(
  createRoute({
    method: "get",
    path: "/user/followers",
    operationId: "userCurrentListFollowers",
    tags: ["user"],
    summary: "List your followers",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: { 200: usersPage, ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx, user }, slice) => listFollowers(ctx, user, slice), toUser),
);

follows.openapi(
  createRoute({
    method: "get",
    path: "/user/following",
    operationId: "userCurrentListFollowing",
    tags: ["user"],
    summary: "List the users you follow",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: { 200: usersPage, ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx, user }, slice) => listFollowing(ctx, user, slice), toUser),
);

follows.openapi(
  createRoute({
    method: "get",
    path: "/user/following/{username}",
    operationId: "userCurrentCheckFollowing",
    tags: ["user"],
    summary: "Check whether you follow a user",
    middleware: [atAccountSignedIn("read:user")] as const,
    request: { params: UserPath },
    responses: {
      204: empty("You follow the user"),
      ...refusals(401, 403),
      404: empty("You do not follow the user, or the user is not visible to you"),
    },
  }),
  (c) => check(c, ({ ctx, user, account }) => isFollowing(ctx, user, { id: account.id })),
);

follows.openapi(
  createRoute({
    method: "put",
    path: "/user/following/{username}",
    operationId: "userCurrentPutFollow",
    tags: ["user"],
    summary: "Follow a user",
    middleware: [atAccountSignedIn("write:user")] as const,
    request: { params: UserPath },
    responses: { 204: empty("You follow the user"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, user, account }) => createFollow(ctx, user, account)),
);

follows.openapi(
  createRoute({
    method: "delete",
    path: "/user/following/{username}",
    operationId: "userCurrentDeleteFollow",
    tags: ["user"],
    summary: "Unfollow a user",
    middleware: [atAccountSignedIn("write:user")] as const,
    request: { params: UserPath },
    responses: { 204: empty("You do not follow the user"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, user, account }) => deleteFollow(ctx, user, account)),
);

follows.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/followers",
    operationId: "userListFollowers",
    tags: ["user"],
    summary: "List a user's followers",
    description: "The literal name `:username` means the caller.",
    middleware: [atAccount("read:user", { allowsAnonymous: false })] as const,
    request: { params: UserPath, query: Paging },
    responses: { 200: usersPage, ...refusals(401, 403, 404) },
  }),
  (c) => answerPage(c, ({ ctx, account }, slice) => listFollowers(ctx, account, slice), toUser),
);

follows.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/following",
    operationId: "userListFollowing",
    tags: ["user"],
    summary: "List the users a user follows",
    middleware: [atAccount("read:user", { allowsAnonymous: false })] as const,
    request: { params: UserPath, query: Paging },
    responses: { 200: usersPage, ...refusals(401, 403, 404) },
  }),
  (c) => answerPage(c, ({ ctx, account }, slice) => listFollowing(ctx, account, slice), toUser),
);

follows.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/following/{target}",
    operationId: "userCheckFollowing",
    tags: ["user"],
    summary: "Check whether a user follows another user",
    description: "The literal name `:target` means the caller.",
    middleware: [atAccount("read:user", { allowsAnonymous: true })] as const,
    request: { params: UserPath.extend({ target: UserPath.shape.username }) },
    responses: {
      204: empty("The user follows the target"),
      ...refusals(401, 403),
      404: empty(
        "The user does not follow the target, or one of them is not visible to the caller",
      ),
    },
  }),
  async (c) => {
    const { ctx, account } = c.var;
    const { target } = c.req.valid("param");
    const { user } = ctx.actor;
    if (target === ":target" && !user) throw unauthenticated("token is required");
    const followed = target === ":target" && user ? { id: user.id } : { name: target };
    if (!(await isFollowing(ctx, account, followed))) throw notFound();
    return c.body(null, 204);
  },
);
