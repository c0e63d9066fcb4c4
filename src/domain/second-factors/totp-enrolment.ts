import { and, eq, type SQL } from "drizzle-orm";

import { seal } from "../../auth/seal.ts";
import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { totpSecrets, users, type Session, type User } from "../../db/schema/index.ts";
import { conflict, invalid } from "../../lib/failure.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { endSessions } from "../sessions/end-sessions.ts";
import { openTotpSecret, TOTP_PURPOSE } from "./open-totp-secret.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";
import { findTotpStep, makeTotpSecret } from "./totp.ts";

/**
 * Begins to set up an authenticator app: makes the secret that it is to hold.
 *
 * @throws Failure `conflict` where an app is enabled already, `forbidden` where the service has no sealing key.
 */
export async function startTotp({ db, config, now }: Ctx, user: User): Promise<void> {
  const sealedSecret = await seal(config.sealingKeys, await makeTotpSecret(), TOTP_PURPOSE);
  const [started] = await db
    .insert(totpSecrets)
    .values({ userId: user.id, sealedSecret, isEnabled: false, createdAt: now })
    .onConflictDoUpdate({
      target: totpSecrets.userId,
      set: { sealedSecret, createdAt: now },
      setWhere: eq(totpSecrets.isEnabled, false),
    })
    .returning();
  if (!started) throw conflict("An authenticator app is enabled already.");
}

/** The secret of a user's authenticator app that waits for its first code; undefined if none does. */
export async function findWaitingTotp(
  { db, config }: Ctx,
  user: User,
): Promise<string | undefined> {
  const [row] = await waitingSecret(db, { userId: user.id });
  return row && openTotpSecret(config, row);
}

const isWaiting = (userId: number | SQL) =>
  and(eq(totpSecrets.userId, userId), eq(totpSecrets.isEnabled, false));

const waitingSecret = prepare((db, { userId }: Params<{ userId: number }>) =>
  db.select().from(totpSecrets).where(isWaiting(userId)),
);

/**
 * Enables an authenticator app by its first code, and ends all other sessions: they signed in without it.
 *
 * @returns New recovery codes, which are shown this once.
 * @throws Failure `invalid` for a wrong code, `conflict` where no app waits for its first code.
 */
export async function enableTotp(
  ctx: Ctx,
  user: User,
  session: Session,
  code: string,
): Promise<string[]> {
  const { db, now } = ctx;
  const secret = await findWaitingTotp(ctx, user);
  if (secret === undefined) throw conflict("No authenticator app waits for its first code.");
  const step = await findTotpStep(secret, code.replaceAll(/\s/g, ""), now);
  if (step === undefined) {
    throw invalid("The code is not right. Check that the clock of your device is right, too.");
  }
  const recovery = await replaceRecoveryCodes(ctx, user);
  await db.batch([
    db.update(totpSecrets).set({ isEnabled: true, lastStep: step }).where(isWaiting(user.id)),
    db.update(users).set({ hasTotp: true, updatedAt: now }).where(eq(users.id, user.id)),
    ...recovery.statements,
    recordAudit(ctx, { kind: "two_factor.enabled", ownerId: user.id }),
    ...endSessions(db, user.id, session),
  ]);
  return recovery.codes;
}

/** Removes a user's authenticator app, and ends all other sessions. */
export async function disableTotp(ctx: Ctx, user: User, session: Session): Promise<void> {
  const { db, now } = ctx;
  await db.batch([
    db.delete(totpSecrets).where(eq(totpSecrets.userId, user.id)),
    recordAuditIfChanged(ctx, { kind: "two_factor.disabled", ownerId: user.id }),
    db.update(users).set({ hasTotp: false, updatedAt: now }).where(eq(users.id, user.id)),
    ...endSessions(db, user.id, session),
  ]);
}
