import { and, eq, gt, lte } from "drizzle-orm";

import { hashPassword } from "../../../auth/password.ts";
import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Config } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { emailAddresses, registrations, users, type User } from "../../../db/schema/index.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import { isMailOn, queueMail } from "../mail/queue-mail.ts";
import { checkAccountName } from "./account-name.ts";
import { checkPassword, createUser } from "./create-user.ts";
import { checkEmail } from "./email-address.ts";

/** How long a mailed link is valid, in milliseconds. */
const LIFE_MS = 24 * 60 * 60 * 1000;

/** The input of the registration form. */
export interface Registration {
  name: string;
  email: string;
  password: string;
}

/** Whether anybody may register: where the setting allows it, and an address can be confirmed. */
export const isRegistrationOn = (config: Config): boolean =>
  config.isRegistrationAllowed && isMailOn(config);

/**
 * Mails a link that creates the account. Nothing exists before it is followed, so that no name and
 * no address is taken by somebody who does not read the mail.
 *
 * SECURITY: an address that has an account gets another mail, and the answer is the same: it does
 * not reveal who has one.
 *
 * @throws Failure `invalid` and `malformed` as `createUser` does for a name, which everybody may
 * see, and for values that break their rule; `forbidden` where nobody may register.
 */
export async function register(ctx: Ctx, { name, email, password }: Registration): Promise<void> {
  const { db, config, now } = ctx;
  if (!isRegistrationOn(config)) throw forbidden("Nobody can register here.");
  checkAccountName(name);
  checkEmail(email);
  checkPassword(config, password);
  const { taken, owned } = await batch(db, {
    taken: db.select({ id: users.id }).from(users).where(eq(users.lowerName, name.toLowerCase())),
    owned: db
      .select({ userId: emailAddresses.userId })
      .from(emailAddresses)
      .where(eq(emailAddresses.lowerEmail, email.toLowerCase())),
  });
  if (taken.length > 0) throw invalid(`user already exists [name: ${name}]`);

  const passwordHash = await hashPassword(password);
  const code = makeSecret();
  const codeHash = await hashSecret(code);
  const [owner] = owned;
  const [mail] = owner
    ? await queueMail(ctx, { userId: owner.userId, address: email, ...knownMail(ctx) })
    : await queueMail(ctx, { userId: null, address: email, ...linkMail(ctx, name, code) });
  if (!mail) throw forbidden("Nobody can register here.");
  const row = { codeHash, name, email, passwordHash, expiresAt: now + LIFE_MS };
  await db.batch([
    db.delete(registrations).where(lte(registrations.expiresAt, now)),
    ...(owner ? [] : [db.insert(registrations).values(row)]),
    mail,
  ]);
}

const linkMail = ({ config: { appName }, publicUrl }: Ctx, name: string, code: string) => ({
  subject: `Confirm your address for ${appName}`,
  text: `Somebody, probably you, registered as ${name} at ${appName} with this address.

Confirm it within a day, which creates the account:

${publicUrl}/user/activate?code=${code}

If it was not you, ignore this mail: nothing is created.
`,
});

const knownMail = ({ config: { appName }, publicUrl }: Ctx) => ({
  subject: `You have an account at ${appName}`,
  text: `Somebody, probably you, tried to register at ${appName} with this address, which belongs to your account.

Sign in, or choose a new password if you forgot yours:

${publicUrl}/user/login
${publicUrl}/user/forgot_password

If it was not you, ignore this mail.
`,
});

/** Whether a mailed link still creates an account. */
export async function isRegistrationOpen(
  { db, config, now }: Pick<Ctx, "db" | "config" | "now">,
  code: string,
): Promise<boolean> {
  if (!isRegistrationOn(config)) return false;
  const rows = await db
    .select({ name: registrations.name })
    .from(registrations)
    .where(await isOpen(code, now));
  return rows.length > 0;
}

/**
 * Creates the account of a mailed link.
 *
 * @returns Undefined for a link that was used or has expired, and where nobody may register any
 *   more.
 * @throws Failure `invalid` where somebody else took the name or the address in the meantime.
 */
export async function confirmRegistration(ctx: Ctx, code: string): Promise<User | undefined> {
  if (!isRegistrationOn(ctx.config)) return undefined;
  // SECURITY: deleting it decides, so that of two requests at once one uses it.
  const [row] = await ctx.db
    .delete(registrations)
    .where(await isOpen(code, ctx.now))
    .returning();
  if (!row) return undefined;
  const { name, email, passwordHash } = row;
  return createUser(ctx, { name, email, password: { hash: passwordHash } });
}

const isOpen = async (code: string, now: number) =>
  and(eq(registrations.codeHash, await hashSecret(code)), gt(registrations.expiresAt, now));
