import { and, desc, eq, notInArray, sql } from "drizzle-orm";

import { ANONYMOUS } from "../../../auth/actor.ts";
import { credentialEnded } from "../../../auth/current-credential.ts";
import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import { isCurrent, SESSION_LIFE_MS } from "../../../auth/session.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { sessions, users, type User } from "../../../db/schema/index.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { fromSameSignIn } from "./same-sign-in.ts";

/** Sessions of one user; over the bound, those end that were not used for the longest time. */
const SESSIONS_MAX = 50;
const USER_AGENT_MAX = 255;

/** The proof that the last step of a sign-in asked for. */
export type SignInMethod = "password" | "second_factor" | "recovery_code" | "security_key";

/** Where a sign-in comes from. */
export interface Device {
  /** The `User-Agent` header, "" without one. */
  userAgent: string;
  /** Undefined where it is not known. */
  network: string | undefined;
}

/**
 * Starts a session of a user who has just signed in, in place of the one that the browser had. The
 * secret is returned here and not stored.
 *
 * @throws Failure `unauthenticated` if the account's password, second factors or state changed
 *   since `user` was read.
 */
export async function startSession(
  ctx: Ctx,
  user: User,
  { userAgent, network }: Device,
  by: SignInMethod,
): Promise<{ secret: string }> {
  const { db, now, actor } = ctx;
  const secret = makeSecret();
  const isOfUser = eq(sessions.userId, user.id);
  const kept = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(isOfUser, isCurrent(now)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
    .limit(SESSIONS_MAX);
  const row = {
    id: sql`null`,
    userId: user.id,
    secretHash: await hashSecret(secret),
    userAgent: userAgent.toWellFormed().slice(0, USER_AGENT_MAX),
    network: network ?? "",
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + SESSION_LIFE_MS,
  };
  const { started } = await batch(db, {
    former: db.delete(sessions).where(eq(sessions.id, actor.session?.id ?? 0)),
    started: insertSelect(db, sessions, row, fromSameSignIn(user)).returning({ id: sessions.id }),
    audit: recordAuditIfChanged(
      { ...ctx, actor: { ...ANONYMOUS, user } },
      { kind: "sign_in.succeeded", ownerId: user.id, details: { by } },
    ),
    login: db
      .update(users)
      .set({ lastLoginAt: now })
      .where(and(eq(users.id, user.id), sql`changes() > 0`)),
    surplus: db.delete(sessions).where(and(isOfUser, notInArray(sessions.id, sql`(${kept})`))),
  });
  if (started.length === 0) throw credentialEnded();
  return { secret };
}
