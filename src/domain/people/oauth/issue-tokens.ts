import { and, desc, eq, lte, notInArray, or, sql } from "drizzle-orm";

import type { TokenAudience } from "../../../auth/audience.ts";
import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Scopes } from "../../../auth/scope.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  accessTokenRepositories,
  accessTokens,
  type OauthApplication,
  type OauthGrant,
} from "../../../db/schema/index.ts";
import { ACCESS_LIFE_MS } from "./grant-secrets.ts";
import { formatScope, type RequestedScopes } from "./requested-scopes.ts";

/** The answer of the token endpoint. */
export interface IssuedTokens {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken: string;
  /** The scopes of the access token, as names with spaces between. */
  scope: string;
  /** Present where the grant includes `openid`. */
  idToken: string | undefined;
}

/**
 * Access tokens of one grant that are valid at once: a client that refreshes too often ends its
 * oldest.
 */
const TOKENS_MAX = 10;

/** A new access token of a grant, and the statements that store it. */
export async function openAccessToken(
  ctx: Ctx,
  grant: OauthGrant,
  application: OauthApplication,
  { scopes, audience }: { scopes: Scopes; audience: TokenAudience | null },
) {
  const secret = makeSecret();
  const secretHash = await hashSecret(secret);
  const newest = ctx.db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(eq(accessTokens.grantId, grant.id))
    .orderBy(desc(accessTokens.id))
    .limit(TOKENS_MAX);
  return {
    secret,
    /** Inserts the token if the previous statement of the batch changed the grant. */
    insertIfChanged: insertSelect(
      ctx.db,
      accessTokens,
      {
        userId: grant.userId,
        name: application.name,
        secretHash,
        lastEight: secret.slice(-8),
        scopes: scopes.text,
        expiresAt: ctx.now + ACCESS_LIFE_MS,
        createdAt: ctx.now,
        grantId: grant.id,
        isBound: grant.repoId !== null,
        audience,
      },
      sql`where changes() > 0`,
    ),
    /** Binds the token to the repository of its grant, if there is one. */
    bind: grant.repoId === null ? [] : [bindToken(ctx, secretHash, grant.repoId)],
    /** Deletes the grant's tokens that have expired, and the oldest of too many. */
    deleteOld: ctx.db
      .delete(accessTokens)
      .where(
        and(
          eq(accessTokens.grantId, grant.id),
          or(lte(accessTokens.expiresAt, ctx.now), notInArray(accessTokens.id, newest)),
        ),
      ),
  };
}

const bindToken = ({ db }: Ctx, secretHash: string, repoId: number) =>
  insertSelect(
    db,
    accessTokenRepositories,
    { tokenId: accessTokens.id, repoId },
    sql`from ${accessTokens} where ${accessTokens.secretHash} = ${secretHash}`,
  );

/** The answer of the token endpoint. */
export const toIssued = (
  accessToken: string,
  refreshToken: string,
  granted: RequestedScopes,
  idToken: string | undefined,
): IssuedTokens => ({
  accessToken,
  expiresInSeconds: ACCESS_LIFE_MS / 1000,
  refreshToken,
  scope: formatScope(granted),
  idToken,
});
