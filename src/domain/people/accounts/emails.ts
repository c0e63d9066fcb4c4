import { and, eq, inArray, sql } from "drizzle-orm";

import {
  credentialEnded,
  currentCredential,
  isCredentialCurrent,
} from "../../../auth/current-credential.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { emailAddresses, type EmailAddress, type User } from "../../../db/schema/index.ts";
import { record, recordIfChanged } from "../../../events/record.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { isMailOn } from "../mail/queue-mail.ts";
import { mailConfirmation } from "./confirm-address.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { checkEmail } from "./email-address.ts";

/** Lists a user's email addresses, the primary one first. */
export async function listEmails(ctx: Ctx, user: Pick<User, "id">): Promise<EmailAddress[]> {
  const addresses = await addressesOfUser(ctx.db, { userId: user.id });
  return addresses.toSorted((a, b) => Number(b.isPrimary) - Number(a.isPrimary));
}

const addressesOfUser = prepare((db, p: Params<{ userId: number }>) =>
  db
    .select()
    .from(emailAddresses)
    .where(eq(emailAddresses.userId, p.userId))
    .orderBy(emailAddresses.id),
);

/** Maximum addresses in one request. */
export const EMAILS_MAX = 20;

/**
 * Adds email addresses to a user. A link in a mail to each confirms it; where the service sends no
 * mail, they count as confirmed at once.
 *
 * @throws Failure `invalid` when any address is invalid or in use, `unauthenticated` if the
 * caller's credential has ended meanwhile; none is added then.
 */
export async function addEmails(ctx: Ctx, user: User, emails: readonly string[]): Promise<void> {
  for (const [at, email] of emails.entries()) checkEmail(email, `emails.${at}`);
  const isCurrent = isCredentialCurrent(currentCredential(ctx.actor));
  const rows = emails.map((email) => ({ email, lowerEmail: email.toLowerCase() }));
  const address = {
    id: sql`null`,
    userId: user.id,
    email: onlyWhile(isCurrent, sql<string>`value ->> 'email'`),
    lowerEmail: sql`value ->> 'lowerEmail'`,
    isActivated: !isMailOn(ctx.config),
    isPrimary: false,
  };
  const links = isMailOn(ctx.config)
    ? await Promise.all(emails.map((email) => mailConfirmation(ctx, user, email)))
    : [];
  try {
    await ctx.db.batch([
      insertSelect(ctx.db, emailAddresses, address, sql`from json_each(${JSON.stringify(rows)})`),
      record(ctx, { type: "email.added", ownerId: user.id }),
      ...links.flat(),
      recordAudit(ctx, { kind: "email.added", ownerId: user.id, target: emails.join(", ") }),
    ]);
  } catch (error) {
    if (isViolation(error, "NOT NULL", "email_addresses.email")) throw credentialEnded();
    if (!isViolation(error, "UNIQUE", "email_addresses.lower_email")) throw error;
    throw invalid("e-mail already in use");
  }
}

/**
 * Removes email addresses from a user.
 *
 * @throws Failure `not_found` when any address is not the user's, `invalid` for the primary
 * address; none is removed then.
 */
export async function removeEmails(ctx: Ctx, user: User, emails: readonly string[]): Promise<void> {
  const own = await listEmails(ctx, user);
  const removed = emails.map((email) => {
    const address = own.find(({ lowerEmail }) => lowerEmail === email.toLowerCase());
    if (!address) throw notFound();
    if (address.isPrimary) throw invalid("the primary e-mail address can't be removed");
    return address.id;
  });
  const [deleted] = await ctx.db.batch([
    ctx.db
      .delete(emailAddresses)
      .where(and(inArray(emailAddresses.id, removed), eq(emailAddresses.isPrimary, false)))
      .returning({ id: emailAddresses.id }),
    recordIfChanged(ctx, { type: "email.removed", ownerId: user.id }),
    recordAuditIfChanged(ctx, {
      kind: "email.removed",
      ownerId: user.id,
      target: emails.join(", "),
    }),
  ]);
  // Another request has removed them meanwhile.
  if (deleted.length === 0 && removed.length > 0) throw notFound();
}
