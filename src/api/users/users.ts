import { createRoute, z } from "@hono/zod-openapi";

import { searchUsers } from "../../domain/people/accounts/search-users.ts";
import { listRepositoriesOf } from "../../domain/repos/repository/list-repositories.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { User, toGhost, toUser } from "../../shapes/users/user.ts";
import { countAnonymousAction } from "../../entrance/count-action.ts";
import { json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount } from "../guards/account.ts";
import { anyone } from "../guards/people.ts";
import { answerPage } from "../handlers.ts";
import { Paging, setPageHeaders, queryId, readPage } from "../paging.ts";
import { UserPath } from "./paths.ts";

export const users = endpoints();

users.openapi(
  createRoute({
    method: "get",
    path: "/users/search",
    operationId: "userSearch",
    tags: ["user"],
    summary: "Search users",
    middleware: [anyone("read:user")] as const,
    request: {
      query: Paging.extend({
        q: z
          .string()
          .max(255)
          .default("")
          .openapi({ description: "Part of the login name or full name" }),
        uid: queryId("Only the user with this id; -1 is the placeholder for deleted accounts"),
      }),
    },
    responses: { 200: page(z.array(User), "The users, by login name"), ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx, viewer } = c.var;
    const query = c.req.valid("query");
    await countAnonymousAction(c, "ANONYMOUS_SEARCHES");
    const slice = readPage(ctx.config, query, ctx.config.searchPageSizeMax);
    const ghost = toGhost(viewer);
    if (query.uid === ghost.id) {
      setPageHeaders(c, slice, 1);
      return c.json(slice.offset === 0 ? [ghost] : [], 200);
    }
    const { items, total } = await searchUsers(ctx, query.q.trim(), query.uid, slice);
    setPageHeaders(c, slice, total);
    return c.json(
      items.map((user) => toUser(user, viewer)),
      200,
    );
  },
);

users.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}",
    operationId: "userGet",
    tags: ["user"],
    summary: "Get a user",
    middleware: [atAccount("read:user", { allowsAnonymous: true })] as const,
    request: { params: UserPath },
    responses: { 200: json(User, "The user"), ...refusals(401, 403, 404) },
  }),
  (c) => c.json(toUser(c.var.account, c.var.viewer), 200),
);

users.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/repos",
    operationId: "userListRepos",
    tags: ["user"],
    summary: "List the repositories a user owns",
    middleware: [atAccount(["read:user", "read:repository"], { allowsAnonymous: true })] as const,
    request: { params: UserPath, query: Paging },
    responses: {
      200: page(z.array(Repository), "The repositories, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, account }, slice) => listRepositoriesOf(ctx, account, slice),
      toRepository,
    ),
);
