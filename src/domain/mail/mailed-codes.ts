import { and, eq, gt, sql } from "drizzle-orm";

import { hashSecret, makeSecret } from "../../auth/secret.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { emailAddresses, mailedCodes, users, type User } from "../../db/schema/index.ts";

const HOUR_MS = 60 * 60 * 1000;
type Purpose = (typeof mailedCodes.$inferSelect)["purpose"];

/** How long a mailed link is valid, in milliseconds. */
const LIFE_MS: Readonly<Record<Purpose, number>> = {
  reset_password: HOUR_MS,
  confirm_address: 24 * HOUR_MS,
};

/** A new code for a link that is mailed to an address of a user, and the statements that store it. */
export async function makeMailedCode(
  { db, now }: Ctx,
  { id: userId }: Pick<User, "id">,
  purpose: Purpose,
  email: string,
) {
  const code = makeSecret();
  const codeHash = await hashSecret(code);
  const row = { codeHash, expiresAt: now + LIFE_MS[purpose] };
  const { userId: user, purpose: kind, lowerEmail } = mailedCodes;
  const statement = db
    .insert(mailedCodes)
    .values({ ...row, userId, purpose, lowerEmail: email.toLowerCase() })
    // A new link replaces the former one.
    .onConflictDoUpdate({ target: [user, kind, lowerEmail], set: row });
  return { code, statements: [statement] };
}

/** What a code of a mailed link stands for. */
export interface MailedCode {
  user: User;
  lowerEmail: string;
}

/** Matches a code while it is valid, its user may sign in, and the address is theirs. */
const isValid = async (code: string, purpose: Purpose, now: number) =>
  and(
    eq(mailedCodes.codeHash, await hashSecret(code)),
    eq(mailedCodes.purpose, purpose),
    gt(mailedCodes.expiresAt, now),
    sql`exists (
      select 1
      from ${emailAddresses}
      join ${users} on ${users.id} = ${emailAddresses.userId}
      where ${emailAddresses.userId} = ${mailedCodes.userId}
        and ${emailAddresses.lowerEmail} = ${mailedCodes.lowerEmail}
        and ${users.isActive}
        and not ${users.isLoginProhibited}
    )`,
  );

/** Finds what a code stands for; undefined for one that was used, has expired, or never existed. */
export async function findMailedCode(
  { db, now }: Pick<Ctx, "db" | "now">,
  code: string,
  purpose: Purpose,
): Promise<MailedCode | undefined> {
  const [found] = await db
    .select({ user: columnsOf(users, "u"), lowerEmail: mailedCodes.lowerEmail })
    .from(mailedCodes)
    .innerJoin(users, eq(users.id, mailedCodes.userId))
    .where(await isValid(code, purpose, now));
  return found;
}

/**
 * Uses a code.
 *
 * SECURITY: deleting it decides, so that of two requests at once one uses it.
 *
 * @returns Whether it was valid.
 */
export async function useMailedCode(
  { db, now }: Pick<Ctx, "db" | "now">,
  code: string,
  purpose: Purpose,
): Promise<boolean> {
  const used = await db
    .delete(mailedCodes)
    .where(await isValid(code, purpose, now))
    .returning();
  return used.length > 0;
}
