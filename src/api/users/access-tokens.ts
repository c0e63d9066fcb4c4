import { createRoute, z } from "@hono/zod-openapi";

import { PATTERNS_MAX } from "../../domain/people/tokens/check-patterns.ts";
import { BOUND_MAX, createAccessToken } from "../../domain/people/tokens/create-access-token.ts";
import { deleteAccessToken } from "../../domain/people/tokens/delete-access-token.ts";
import { listAccessTokens } from "../../domain/people/tokens/list-access-tokens.ts";
import { AccessToken, toAccessToken } from "../../shapes/users/access-token.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { ownAccount } from "../guards/account.ts";
import { answerPage, done } from "../handlers.ts";
import { body, requiredText } from "../json-body.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { UserPath } from "./paths.ts";

export const accessTokens = endpoints();

/**
 * Patterns in git's syntax for paths: `*` and `?` match no slash, `**` between slashes matches any
 * directories.
 */
const patterns = (description: string) =>
  z
    .array(requiredText(255))
    .min(1)
    .max(PATTERNS_MAX)
    .optional()
    .openapi({ description: `${description}; all if omitted` });

const CreateAccessToken = body({
  name: requiredText(255),
  scopes: z.array(z.string().max(64)).max(64).default([]),
  expires_at: z.iso
    .datetime({ offset: true })
    .optional()
    .openapi({ format: "date-time", description: "When the token expires; never if omitted" }),
  repositories: z
    .array(z.string().regex(/^[^/]+\/[^/]+$/, "must be of the form owner/name"))
    .min(1)
    .max(BOUND_MAX)
    .optional()
    .openapi({
      description: "The only repositories the token may access, as owner/name; all if omitted",
    }),
  refs: patterns(
    "The only refs the token may create, update or delete, by full name: `refs/heads/main`, `refs/tags/v*`",
  ),
  paths: patterns(
    "The only paths that commits pushed with the token, and locks made with it, may concern: `docs/**`",
  ),
  packages: patterns("The only packages the token may access, as owner/type/name: `alice/npm/*`"),
}).openapi("CreateAccessTokenOption");

accessTokens.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/tokens",
    operationId: "userGetTokens",
    tags: ["user"],
    summary: "List a user's access tokens",
    middleware: [ownAccount("read:user")] as const,
    request: { params: UserPath, query: Paging },
    responses: {
      200: page(z.array(AccessToken), "The tokens, newest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, account }, slice) => listAccessTokens(ctx, account, slice),
      ({ token, boundTo }) => toAccessToken(token, boundTo),
      readPageOrAll,
    ),
);

accessTokens.openapi(
  createRoute({
    method: "post",
    path: "/users/{username}/tokens",
    operationId: "userCreateToken",
    tags: ["user"],
    summary: "Create an access token",
    description: "The token's secret is returned by this response only.",
    middleware: [ownAccount("write:user")] as const,
    request: {
      params: UserPath,
      body: { required: true, ...json(CreateAccessToken, "The token") },
    },
    responses: { 201: json(AccessToken, "The new token"), ...refusals(400, 401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, account } = c.var;
    const sent = c.req.valid("json");
    await c.var.base.rateLimits.count("TOKEN_CREATIONS", `account ${account.id}`);
    const { token, secret, boundTo } = await createAccessToken(ctx, account, {
      name: sent.name,
      scopes: sent.scopes,
      expiresAt: sent.expires_at === undefined ? null : Date.parse(sent.expires_at),
      repositories: sent.repositories ?? null,
      bindings: {
        refs: sent.refs ?? null,
        paths: sent.paths ?? null,
        packages: sent.packages ?? null,
      },
    });
    return c.json(toAccessToken(token, boundTo, secret), 201);
  },
);

accessTokens.openapi(
  createRoute({
    method: "delete",
    path: "/users/{username}/tokens/{token}",
    operationId: "userDeleteAccessToken",
    tags: ["user"],
    summary: "Delete an access token by id or name",
    middleware: [ownAccount("write:user")] as const,
    request: { params: UserPath.extend({ token: z.string().max(255) }) },
    responses: { 204: empty("The token was deleted"), ...refusals(401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, account }) => deleteAccessToken(ctx, account, c.req.valid("param").token)),
);
