import { z } from "@hono/zod-openapi";

import { NoDetails } from "./common-details.ts";

/**
 * Tokens, keys and grants. The target of a key is its fingerprint or id, that of a token its name.
 */
export const CREDENTIAL_DETAILS = {
  "access_token.created": z.object({
    tokenId: z.int(),
    scopes: z.string(),
    expiresAt: z.int().nullable(),
    /** The repositories to which it is bound, as owner/name; null for an unbound token. */
    repositories: z.array(z.string()).nullable(),
    /** The patterns to which it is bound; null for none, missing in old entries. */
    refs: z.array(z.string()).nullable().optional(),
    paths: z.array(z.string()).nullable().optional(),
    packages: z.array(z.string()).nullable().optional(),
  }),
  "access_token.deleted": z.object({ tokenId: z.int() }),
  "public_key.added": z.object({ title: z.string() }),
  "public_key.removed": z.object({ title: z.string() }),
  "deploy_key.added": z.object({ title: z.string(), isReadOnly: z.boolean() }),
  "deploy_key.removed": z.object({ title: z.string() }),
  "gpg_key.added": NoDetails,
  "gpg_key.verified": NoDetails,
  "gpg_key.removed": NoDetails,
  "oauth_application.created": NoDetails,
  "oauth_application.edited": NoDetails,
  "oauth_application.deleted": NoDetails,
  "oauth_grant.created": z.object({
    scopes: z.string(),
    /** Entries of earlier versions lack these. */
    audience: z.string().nullish(),
    repository: z.string().nullish(),
    redirectHost: z.string().optional(),
  }),
  "oauth_grant.revoked": NoDetails,
} as const;
