import { and, eq, or } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import {
  recoveryCodes,
  totpSecrets,
  users,
  webauthnCredentials,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { queueSignInChange } from "../mail/account-mails.ts";
import { endSessionStatements } from "../sessions/end-sessions.ts";

/**
 * Removes all second factors of a user who lost them, with the recovery codes. The password alone
 * signs in from then on; all sessions end.
 *
 * @throws Failure `not_found` for a user without a second factor.
 */
export async function removeSecondFactors(ctx: Ctx, user: User): Promise<void> {
  const { db, now } = ctx;
  if (!user.hasTotp && !user.hasWebauthn) throw notFound("the user has no second factor");
  const mail = await queueSignInChange(ctx, user, "Your second factors were removed");
  const isProtected = or(users.hasTotp, users.hasWebauthn);
  const [removed] = await db.batch([
    db
      .update(users)
      .set({ hasTotp: false, hasWebauthn: false, updatedAt: now })
      .where(and(eq(users.id, user.id), isProtected))
      .returning({ id: users.id }),
    recordIfChanged(ctx, { type: "user.edited", ownerId: user.id, changed: ["second_factors"] }),
    recordAuditIfChanged(ctx, { kind: "two_factor.disabled", ownerId: user.id }),
    db.delete(totpSecrets).where(eq(totpSecrets.userId, user.id)),
    db.delete(webauthnCredentials).where(eq(webauthnCredentials.userId, user.id)),
    db.delete(recoveryCodes).where(eq(recoveryCodes.userId, user.id)),
    ...endSessionStatements(db, user.id),
    ...mail,
  ]);
  // Another request has removed them meanwhile.
  if (removed.length === 0) throw notFound("the user has no second factor");
}
