import { eq, sql } from "drizzle-orm";

import { PASSWORD_LENGTH_MAX, hashPassword } from "../../../auth/password.ts";
import type { Config } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import {
  emailAddresses,
  userRedirects,
  users,
  type User,
  type Visibility,
} from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { invalid, malformed } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { queueWelcome } from "../mail/account-mails.ts";
import { checkAccountName } from "./account-name.ts";
import { checkEmail } from "./email-address.ts";

/** Properties of a user to create. */
export interface NewUser {
  name: string;
  email: string;
  /** The password, or the hash of one that was checked before. */
  password: string | { hash: string };
  fullName?: string | undefined;
  visibility?: Visibility | undefined;
  isAdmin?: boolean | undefined;
  isRestricted?: boolean | undefined;
  mustChangePassword?: boolean | undefined;
  loginName?: string | undefined;
  /** Whether a mail notifies the user of the account. */
  isNotified?: boolean | undefined;
  /** Backdates the account, in milliseconds since the epoch. */
  createdAt?: number | undefined;
}

/**
 * Creates a user with one confirmed, primary email address.
 *
 * @throws Failure `invalid` for an invalid or taken name or address, `malformed` for a password
 * that is too short or too long.
 */
export async function createUser(ctx: Ctx, input: NewUser): Promise<User> {
  checkAccountName(input.name);
  checkEmail(input.email);
  const { password } = input;
  if (typeof password === "string") checkPassword(ctx.config, password);

  const lowerName = input.name.toLowerCase();
  const newId = sql<number>`(
    select ${users.id} from ${users} where ${users.lowerName} = ${lowerName}
  )`;
  const passwordHash = typeof password === "string" ? await hashPassword(password) : password.hash;
  const recipient = { userId: newId, address: input.email, name: input.name };
  const mail = input.isNotified ? await queueWelcome(ctx, recipient) : [];
  try {
    const [created] = await ctx.db.batch([
      ctx.db
        .insert(users)
        .values({
          kind: "user",
          name: input.name,
          lowerName,
          fullName: input.fullName ?? "",
          email: input.email,
          passwordHash,
          // Not chosen yet: a page decides.
          diffViewStyle: "",
          visibility: input.visibility ?? "public",
          isAdmin: input.isAdmin ?? false,
          isRestricted: input.isRestricted ?? false,
          mustChangePassword: input.mustChangePassword ?? false,
          loginName: input.loginName ?? "",
          createdAt: input.createdAt ?? ctx.now,
          updatedAt: ctx.now,
        })
        .returning(),
      ctx.db.insert(emailAddresses).values({
        userId: newId,
        email: input.email,
        lowerEmail: input.email.toLowerCase(),
        isActivated: true,
        isPrimary: true,
      }),
      // A new account replaces a redirect from a former account name.
      ctx.db.delete(userRedirects).where(eq(userRedirects.lowerName, lowerName)),
      record(ctx, { type: "user.created", ownerId: newId, name: input.name }),
      recordAudit(ctx, {
        kind: "user.created",
        ownerId: newId,
        details: { isAdmin: input.isAdmin ?? false },
      }),
      ...mail,
    ]);
    return only(created);
  } catch (error) {
    throw translateViolation(error, input);
  }
}

/**
 * Translates a unique violation to the failure that names the taken property; returns other errors
 * unchanged.
 */
function translateViolation(error: unknown, { name, email }: NewUser): unknown {
  if (isViolation(error, "UNIQUE", "users.lower_name")) {
    return invalid(`user already exists [name: ${name}]`);
  }
  if (isViolation(error, "UNIQUE", "email_addresses.lower_email")) {
    return invalid(`e-mail already in use [email: ${email}]`);
  }
  return error;
}

/**
 * @throws Failure `malformed` for a password that is too short or too long, as existing clients
 *   expect.
 */
export function checkPassword(config: Config, password: string): void {
  if (password.length < config.passwordLengthMin) {
    throw malformed(`PasswordIsRequired: at least ${config.passwordLengthMin} characters`);
  }
  if (password.length > PASSWORD_LENGTH_MAX) {
    throw malformed(`PasswordTooLong: at most ${PASSWORD_LENGTH_MAX} characters`);
  }
}
