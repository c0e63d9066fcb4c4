import { and, eq, gt, sql, type SQL } from "drizzle-orm";

import { currentCredential, isCredentialCurrent } from "../../../auth/current-credential.ts";
import { seal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { totpSecrets, type Session, type User } from "../../../db/schema/index.ts";
import { conflict, invalid } from "../../../lib/failure.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { endSessionStatements } from "../sessions/end-sessions.ts";
import { openTotpSecret, TOTP_PURPOSE } from "./open-totp-secret.ts";
import { flagFactors, whileSignedIn } from "./flag-factors.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";
import { findTotpStep, makeTotpSecret } from "./totp.ts";

/** How long a secret waits for its first code, in milliseconds. */
const WAITING_LIFE_MS = 60 * 60 * 1000;

/**
 * Begins to set up an authenticator app: makes the secret that it is to hold.
 *
 * @throws Failure `conflict` where an app is enabled already or the session has ended meanwhile,
 *   `forbidden` where the service has no sealing key.
 */
export async function startTotp({ db, config, now, actor }: Ctx, user: User): Promise<void> {
  const sealedSecret = await seal(config.sealingKeys, await makeTotpSecret(), TOTP_PURPOSE);
  const isCurrent = isCredentialCurrent(currentCredential(actor));
  const row = { userId: user.id, sealedSecret, isEnabled: false, createdAt: now };
  const [started] = await insertSelect(db, totpSecrets, row, sql`where ${isCurrent}`)
    .onConflictDoUpdate({
      target: totpSecrets.userId,
      set: { sealedSecret, createdAt: now },
      setWhere: eq(totpSecrets.isEnabled, false),
    })
    .returning();
  if (!started) throw conflict("An authenticator app is enabled already.");
}

/**
 * The secret of a user's authenticator app that waits for its first code; undefined if none does.
 */
export async function findWaitingTotp(
  { db, config, now }: Ctx,
  user: User,
): Promise<string | undefined> {
  const [row] = await waitingSecret(db, { userId: user.id, from: now - WAITING_LIFE_MS });
  return row && openTotpSecret(config, row);
}

const isWaiting = (userId: number | SQL) =>
  and(eq(totpSecrets.userId, userId), eq(totpSecrets.isEnabled, false));

const waitingSecret = prepare((db, { userId, from }: Params<{ userId: number; from: number }>) =>
  db
    .select()
    .from(totpSecrets)
    .where(and(isWaiting(userId), gt(totpSecrets.createdAt, from))),
);

/**
 * Enables an authenticator app by its first code, and ends all other sessions: they signed in
 * without it.
 *
 * @returns New recovery codes, which are shown this once.
 * @throws Failure `invalid` for a wrong code, `conflict` where no app waits for its first code,
 * `unauthenticated` if the session has ended meanwhile.
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
  await whileSignedIn(
    db.batch([
      db.update(totpSecrets).set({ isEnabled: true, lastStep: step }).where(isWaiting(user.id)),
      flagFactors(ctx, user, { hasTotp: true }),
      ...recovery.statements,
      recordAudit(ctx, { kind: "two_factor.enabled", ownerId: user.id }),
      ...endSessionStatements(db, user.id, session),
    ]),
  );
  return recovery.codes;
}

/**
 * Removes a user's authenticator app, and ends all other sessions.
 *
 * @throws Failure `unauthenticated` if the session has ended meanwhile.
 */
export async function disableTotp(ctx: Ctx, user: User, session: Session): Promise<void> {
  const { db } = ctx;
  await whileSignedIn(
    db.batch([
      db.delete(totpSecrets).where(eq(totpSecrets.userId, user.id)),
      recordAuditIfChanged(ctx, { kind: "two_factor.disabled", ownerId: user.id }),
      flagFactors(ctx, user, { hasTotp: false }),
      ...endSessionStatements(db, user.id, session),
    ]),
  );
}
