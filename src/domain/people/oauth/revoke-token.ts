import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { accessTokens, oauthGrants, type OauthApplication } from "../../../db/schema/index.ts";
import { findToken } from "./find-token.ts";
import { parseRefreshToken } from "./grant-secrets.ts";
import { endGrant } from "./revoke-grants.ts";

/**
 * Ends a token of an application at the application's request: an access token alone, a refresh
 * token together with its grant, also one that was replaced. A token that the application does not
 * have is left as it is.
 *
 * @see RFC 7009 section 2.1
 */
export async function revokeToken(
  ctx: Ctx,
  application: OauthApplication,
  token: string,
): Promise<void> {
  const refresh = await parseRefreshToken(token);
  if (refresh) {
    const [grant] = await ctx.db
      .select()
      .from(oauthGrants)
      .where(eq(oauthGrants.familyHash, refresh.familyHash));
    // SECURITY: a client ends its own tokens only.
    if (grant?.applicationId === application.id) await endGrant(ctx, grant, application.name);
    return;
  }
  const found = await findToken(ctx, token);
  if (found?.tokenId === undefined || found.application.id !== application.id) return;
  await ctx.db.delete(accessTokens).where(eq(accessTokens.id, found.tokenId));
}
