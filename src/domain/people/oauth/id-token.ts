import type { Ctx } from "../../../context.ts";
import type { OauthApplication, OauthGrant, User } from "../../../db/schema/index.ts";
import { claimsOf } from "./claims.ts";
import { ACCESS_LIFE_MS } from "./grant-secrets.ts";
import { scopesOf } from "./requested-scopes.ts";
import { findSigningKey, SIGNING_ALGORITHM } from "./signing-keys.ts";

/** The authorization that an ID token describes. */
interface IdTokenSubject {
  grant: OauthGrant;
  user: User;
  application: OauthApplication;
  /** Null to leave it out, as after a refresh. */
  nonce: string | null;
}

/**
 * The signed ID token of a grant, or undefined where the grant does not include `openid`.
 *
 * @see OpenID Connect Core, section 2
 */
export async function openIdToken(
  ctx: Ctx,
  { grant, user, application, nonce }: IdTokenSubject,
): Promise<string | undefined> {
  const granted = scopesOf(grant);
  const key = granted.identity.includes("openid") ? await findSigningKey(ctx.config) : undefined;
  if (!key) return undefined;
  const { SignJWT } = await import("jose");
  const issuedAt = Math.floor(ctx.now / 1000);
  const claims = {
    ...(await claimsOf(ctx, user, granted)),
    auth_time: Math.floor(grant.authenticatedAt / 1000),
    ...(nonce !== null && { nonce }),
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: "JWT", kid: key.id })
    .setIssuer(ctx.rootUrl)
    .setAudience(application.clientId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ACCESS_LIFE_MS / 1000)
    .sign(key.privateKey);
}
