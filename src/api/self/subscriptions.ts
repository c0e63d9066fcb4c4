import { createRoute, z } from "@hono/zod-openapi";

import { listWatched } from "../../domain/repos/repository/list-stars-and-watches.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { answerPage } from "../handlers.ts";
import { Paging } from "../paging.ts";
import { UserPath } from "../users/paths.ts";

export const watchedRepositories = endpoints();

const watchedPage = page(z.array(Repository), "The repositories, most recently watched first");

watchedRepositories.openapi(
  createRoute({
    method: "get",
    path: "/user/subscriptions",
    operationId: "userCurrentListSubscriptions",
    tags: ["user"],
    summary: "List the repositories you watch",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: { 200: watchedPage, ...refusals(401, 403) },
  }),
  (c) => answerPage(c, ({ ctx, user }, slice) => listWatched(ctx, user, slice), toRepository),
);

watchedRepositories.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/subscriptions",
    operationId: "userListSubscriptions",
    tags: ["user"],
    summary: "List the repositories a user watches",
    middleware: [atAccount("read:user", { allowsAnonymous: false })] as const,
    request: { params: UserPath, query: Paging },
    responses: { 200: watchedPage, ...refusals(401, 403, 404) },
  }),
  (c) => answerPage(c, ({ ctx, account }, slice) => listWatched(ctx, account, slice), toRepository),
);
