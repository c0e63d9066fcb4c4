import { and, eq, gt, sql, type SQL } from "drizzle-orm";

import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  emailAddresses,
  mailedCodes,
  users,
  type EmailAddress,
  type User,
} from "../../../db/schema/index.ts";

const HOUR_MS = 60 * 60 * 1000;
type Purpose = (typeof mailedCodes.$inferSelect)["purpose"];

/** How long a mailed link is valid, in milliseconds. */
const LIFE_MS: Readonly<Record<Purpose, number>> = {
  reset_password: HOUR_MS,
  confirm_address: 24 * HOUR_MS,
};

/**
 * Matches an address with its user while a code for it may be made and used: who confirmed it
 * resets by it.
 */
const isDue = (purpose: Purpose): SQL => sql`
  ${users.id} = ${emailAddresses.userId}
  and ${users.isActive}
  and not ${users.isLoginProhibited}
  and ${emailAddresses.isActivated} = ${purpose === "reset_password"}`;

/**
 * A new code for a link that is mailed to an address of a user, and the statements that store it.
 */
export async function makeMailedCode(
  { db, now }: Ctx,
  { id: userId }: Pick<User, "id">,
  purpose: Purpose,
  email: string,
) {
  const code = makeSecret();
  const row = { codeHash: await hashSecret(code), expiresAt: now + LIFE_MS[purpose] };
  const isAddress = and(
    eq(emailAddresses.userId, userId),
    eq(emailAddresses.lowerEmail, email.toLowerCase()),
  );
  const statement = insertSelect(
    db,
    mailedCodes,
    { ...row, purpose, addressId: emailAddresses.id },
    sql`from ${emailAddresses} join ${users} where ${isAddress} and ${isDue(purpose)}`,
  )
    // A new link replaces the former one.
    .onConflictDoUpdate({ target: [mailedCodes.addressId, mailedCodes.purpose], set: row });
  return { code, statements: [statement] };
}

/** The purpose of the code of a mailed link, while it is valid. */
export interface MailedCode {
  codeHash: string;
  user: User;
  address: EmailAddress;
}

/**
 * Finds what a code stands for; undefined for one that was used, has ended or expired, or never
 * existed.
 */
export async function findMailedCode(
  { db, now }: Pick<Ctx, "db" | "now">,
  code: string,
  purpose: Purpose,
): Promise<MailedCode | undefined> {
  const codeHash = await hashSecret(code);
  const [found] = await db
    .select({ user: columnsOf(users, "u"), address: columnsOf(emailAddresses, "a") })
    .from(mailedCodes)
    .innerJoin(emailAddresses, eq(emailAddresses.id, mailedCodes.addressId))
    .innerJoin(users, eq(users.id, emailAddresses.userId))
    .where(isValid(codeHash, purpose, now));
  return found && { ...found, codeHash };
}

/**
 * Whether a code is valid, for the statement that uses it. Its batch deletes the code.
 *
 * SECURITY: that statement decides, so that of requests at once one uses the code, and none after
 * what it was made from has changed.
 */
export const isStillValid = (
  { now }: Pick<Ctx, "now">,
  { codeHash }: MailedCode,
  purpose: Purpose,
): SQL => sql`exists (
  select 1
  from ${mailedCodes}
  join ${emailAddresses} on ${emailAddresses.id} = ${mailedCodes.addressId}
  join ${users} on ${users.id} = ${emailAddresses.userId}
  where ${isValid(codeHash, purpose, now)}
)`;

const isValid = (codeHash: string, purpose: Purpose, now: number) =>
  and(
    eq(mailedCodes.codeHash, codeHash),
    eq(mailedCodes.purpose, purpose),
    gt(mailedCodes.expiresAt, now),
    isDue(purpose),
  );

/** The statement that deletes a code. */
export const deleteMailedCode = ({ db }: Pick<Ctx, "db">, { codeHash }: MailedCode) =>
  db.delete(mailedCodes).where(eq(mailedCodes.codeHash, codeHash));
