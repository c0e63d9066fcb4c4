import { and, eq, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import {
  oauthApplications,
  oauthGrants,
  type OauthGrant,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";

/** Ends one grant: its code, its refresh token and its access tokens are refused from then on. */
export const endGrant = (ctx: Ctx, { id, userId }: OauthGrant, name: string): Promise<unknown> =>
  end(ctx, eq(oauthGrants.id, id), userId, name);

/**
 * Ends all that a user granted an application.
 *
 * @throws Failure `not_found` if the user granted it nothing.
 */
export async function revokeGrants(ctx: Ctx, user: User, applicationId: number): Promise<void> {
  const isThis = and(
    eq(oauthGrants.userId, user.id),
    eq(oauthGrants.applicationId, applicationId),
  ) as SQL;
  const [granted] = await ctx.db
    .select({ name: oauthApplications.name })
    .from(oauthGrants)
    .innerJoin(oauthApplications, eq(oauthApplications.id, oauthGrants.applicationId))
    .where(isThis)
    .limit(1);
  if (!granted) throw notFound();
  await end(ctx, isThis, user.id, granted.name);
}

const end = (ctx: Ctx, isEnded: SQL, ownerId: number, name: string) =>
  ctx.db.batch([
    // Access tokens follow by their reference.
    ctx.db.delete(oauthGrants).where(isEnded),
    recordIfChanged(ctx, { type: "oauth_grant.revoked", ownerId, name }),
    recordAuditIfChanged(ctx, { kind: "oauth_grant.revoked", ownerId, target: name }),
  ]);
