import { z } from "@hono/zod-openapi";

import type { AccessToken as AccessTokenRow } from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";

export const AccessToken = z
  .object({
    id: Int64,
    name: z.string(),
    sha1: z.string().openapi({ description: "The secret, only in the response to its creation" }),
    token_last_eight: z.string(),
    scopes: z.array(z.string()),
    created_at: Time,
    last_used_at: TimeOrNull,
    expires_at: TimeOrNull.openapi({ description: "When the token expires; null for never" }),
    created_by_token_id: Int64.nullable().openapi({
      description:
        "The token that created this one, and with which it ends; null if a password created it",
    }),
    repositories: z.array(z.string()).nullable().openapi({
      description:
        "The only repositories that the token can access; null for all repositories of its user",
    }),
    refs: z.array(z.string()).nullable().openapi({
      description: "Patterns of the only refs that the token can update; null for all",
    }),
    paths: z.array(z.string()).nullable().openapi({
      description: "Patterns of the only paths that the token can change; null for all",
    }),
    packages: z.array(z.string()).nullable().openapi({
      description: "Patterns of the only packages that the token can access; null for all",
    }),
  })
  .openapi("AccessToken");

/**
 * Formats a token for its owner.
 *
 * @param boundTo Full names of the repositories that the token is restricted to, if it is.
 * @param secret  Available only at creation; the database stores its hash.
 */
export function toAccessToken(
  token: AccessTokenRow,
  boundTo: readonly string[],
  secret = "",
): z.infer<typeof AccessToken> {
  return {
    id: token.id,
    name: token.name,
    sha1: secret,
    token_last_eight: token.lastEight,
    scopes: (token.scopes ?? "").split(",").filter((scope) => scope !== ""),
    created_at: formatTime(token.createdAt),
    last_used_at: formatTimeOrNull(token.lastUsedAt),
    expires_at: formatTimeOrNull(token.expiresAt),
    created_by_token_id: token.madeById,
    repositories: token.isBound ? [...boundTo] : null,
    refs: token.boundRefs && [...token.boundRefs],
    paths: token.boundPaths && [...token.boundPaths],
    packages: token.boundPackages && [...token.boundPackages],
  };
}
