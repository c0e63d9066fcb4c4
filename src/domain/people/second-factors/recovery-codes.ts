import { and, count, eq } from "drizzle-orm";

import { hashSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { recoveryCodes, type User } from "../../../db/schema/index.ts";

const CODES = 10;
/** Letters and digits that people do not take for one another. */
const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";
/** 80 random bits: like other secrets, a code needs no slow hash. */
const CODE_LENGTH = 16;

/** New recovery codes and the statements that store them in place of the former ones. */
export async function replaceRecoveryCodes({ db }: Pick<Ctx, "db">, { id: userId }: User) {
  const codes = Array.from({ length: CODES }, makeCode);
  const rows = await Promise.all(
    codes.map(async (code) => ({ userId, codeHash: await hashCode(code) })),
  );
  const statements = [
    db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)),
    db.insert(recoveryCodes).values(rows),
  ] as const;
  return { codes, statements };
}

/**
 * Spends a recovery code of a user.
 *
 * SECURITY: deleting it decides whether it counts, so that two requests at once can't both use it.
 *
 * @returns Whether the user had this code.
 */
export async function spendRecoveryCode(
  { db }: Pick<Ctx, "db">,
  { id: userId }: User,
  code: string,
): Promise<boolean> {
  const isCode = and(
    eq(recoveryCodes.userId, userId),
    eq(recoveryCodes.codeHash, await hashCode(code)),
  );
  const spent = await db.delete(recoveryCodes).where(isCode).returning();
  return spent.length > 0;
}

/** How many recovery codes a user has left. */
export async function countRecoveryCodes(
  { db }: Pick<Ctx, "db">,
  { id: userId }: User,
): Promise<number> {
  const [counted] = await codesLeft(db, { userId });
  return counted?.left ?? 0;
}

const codesLeft = prepare((db, { userId }: Params<{ userId: number }>) =>
  db.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.userId, userId)),
);

/** Four groups of four characters. */
function makeCode(): string {
  // 32 characters: each byte chooses one without a bias.
  const bytes = crypto.getRandomValues(new Uint8Array(CODE_LENGTH));
  const text = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return text.replaceAll(/.{4}(?!$)/g, "$&-");
}

const hashCode = (code: string): Promise<string> =>
  hashSecret(`recovery ${code.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}`);
