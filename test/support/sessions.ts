import { hashSecret, makeSecret } from "../../src/auth/secret.ts";
import { type Session, sessions } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Starts a session of an account, without a sign-in. @returns The header that its browser sends.
 *
 * @param fields Columns of the session that differ.
 */
export async function startSession(
  { id: userId }: { id: number },
  fields: Partial<Session> = {},
): Promise<{ Cookie: string }> {
  const secret = makeSecret();
  const now = Date.now();
  await db.insert(sessions).values({
    userId,
    secretHash: await hashSecret(secret),
    userAgent: "Example/1.0",
    network: "",
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + DAY_MS,
    ...fields,
  });
  return { Cookie: `__Host-edgeforge_session=${secret}` };
}
