import { and, eq, gt } from "drizzle-orm";

import type { TokenAudience } from "../../../auth/audience.ts";
import { hashSecret } from "../../../auth/secret.ts";
import { readStoredScopes, type Scopes } from "../../../auth/scope.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  accessTokens,
  oauthApplications,
  oauthGrants,
  users,
  type OauthApplication,
  type OauthGrant,
  type User,
} from "../../../db/schema/index.ts";
import { mayGrant } from "./find-grant.ts";
import { parseRefreshToken } from "./grant-secrets.ts";

/** A token of a grant that is in force. */
export interface GrantToken {
  kind: "access_token" | "refresh_token";
  grant: OauthGrant;
  application: OauthApplication;
  user: User;
  /** The scopes of the token; an access token may have fewer than its grant. */
  scopes: Scopes;
  /** The part of the service that the token is for; null for all of it. */
  audience: TokenAudience | null;
  createdAt: number;
  expiresAt: number;
  /** The access token's row. */
  tokenId: number | undefined;
}

/** Finds an access token or a refresh token that is valid now; undefined for any other text. */
export async function findToken(ctx: Ctx, token: string): Promise<GrantToken | undefined> {
  const found = token.startsWith("gtr_")
    ? await findRefreshToken(ctx, token)
    : await findAccessToken(ctx, token);
  return found && mayGrant(found.user) ? found : undefined;
}

async function findAccessToken(ctx: Ctx, token: string): Promise<GrantToken | undefined> {
  const hash = await hashSecret(token);
  const [[found]] = await ctx.db.batch([tokenOfHash(ctx.db, { hash, now: ctx.now })]);
  if (!found) return undefined;
  const { id: tokenId, scopes, audience, createdAt, expiresAt } = found.token;
  return {
    ...found,
    kind: "access_token",
    scopes: readStoredScopes(scopes),
    audience,
    createdAt,
    expiresAt: expiresAt ?? 0,
    tokenId,
  };
}

const tokenOfHash = prepare((db, p: Params<{ hash: string; now: number }>) =>
  db
    .select({
      token: columnsOf(accessTokens, "t"),
      grant: columnsOf(oauthGrants, "g"),
      application: columnsOf(oauthApplications, "a"),
      user: columnsOf(users, "u"),
    })
    .from(accessTokens)
    .innerJoin(oauthGrants, eq(oauthGrants.id, accessTokens.grantId))
    .innerJoin(oauthApplications, eq(oauthApplications.id, oauthGrants.applicationId))
    .innerJoin(users, eq(users.id, oauthGrants.userId))
    .where(and(eq(accessTokens.secretHash, p.hash), gt(accessTokens.expiresAt, p.now))),
);

async function findRefreshToken(ctx: Ctx, token: string): Promise<GrantToken | undefined> {
  const sent = await parseRefreshToken(token);
  if (!sent) return undefined;
  const { familyHash, refreshHash } = sent;
  const [[found]] = await ctx.db.batch([
    grantOfToken(ctx.db, { familyHash, refreshHash, now: ctx.now }),
  ]);
  return (
    found && {
      ...found,
      kind: "refresh_token",
      scopes: readStoredScopes(found.grant.scopes),
      audience: found.grant.audience,
      createdAt: found.grant.lastUsedAt,
      expiresAt: found.grant.expiresAt,
      tokenId: undefined,
    }
  );
}

const grantOfToken = prepare(
  (db, p: Params<{ familyHash: string; refreshHash: string; now: number }>) =>
    db
      .select({
        grant: columnsOf(oauthGrants, "g"),
        application: columnsOf(oauthApplications, "a"),
        user: columnsOf(users, "u"),
      })
      .from(oauthGrants)
      .innerJoin(oauthApplications, eq(oauthApplications.id, oauthGrants.applicationId))
      .innerJoin(users, eq(users.id, oauthGrants.userId))
      .where(
        and(
          eq(oauthGrants.familyHash, p.familyHash),
          eq(oauthGrants.refreshHash, p.refreshHash),
          gt(oauthGrants.expiresAt, p.now),
        ),
      ),
);
