import { and, eq, ne, sql, type SQL } from "drizzle-orm";

import {
  credentialEnded,
  currentCredential,
  isCredentialCurrent,
} from "../../../auth/current-credential.ts";
import { hashPassword } from "../../../auth/password.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { emailAddresses, users, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { differing } from "../../../lib/differing.ts";
import { malformed, notFound } from "../../../lib/failure.ts";
import { checkWebAddress } from "../../../lib/web-address.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { queueSignInChange } from "../mail/account-mails.ts";
import { forksFollow } from "../visibility/fork-visibility.ts";
import { checkPassword } from "./create-user.ts";
import { isEmail } from "./email-address.ts";
import { othersAdminister } from "./last-administrator.ts";
import { isBeingDeleted } from "./is-being-deleted.ts";

type Columns = Pick<
  User,
  | "fullName"
  | "website"
  | "description"
  | "location"
  | "language"
  | "theme"
  | "diffViewStyle"
  | "isEmailHidden"
  | "isActivityHidden"
  | "emailNotifications"
  | "visibility"
  | "isAdmin"
  | "isActive"
  | "isRestricted"
  | "isLoginProhibited"
  | "mustChangePassword"
  | "canCreateOrganization"
  | "repoCountMax"
  | "loginName"
>;

/** The properties to change. Missing properties keep their value. */
export interface UserEdit extends Partial<Columns> {
  /** Becomes the confirmed, primary address. */
  email?: string;
  password?: string;
}

/**
 * Edits a user. Their repositories are as visible as they allow, at once, and so are the forks of
 * these. The caller of this function checks permissions. Unchanged values record no event.
 *
 * Triggers end what was made from what the edit changes: sessions and mailed links with the
 * password, for one.
 *
 * @throws Failure `not_found` for an account that is being deleted; `unauthenticated` where the
 * credential of the request has ended before a password or an address is written; `malformed` when
 * the edit would remove the last administrator, for an invalid password, and for an invalid email
 * address or another user's, as existing clients expect; `invalid` for a website that is not an
 * HTTP URL.
 */
export async function editUser(ctx: Ctx, user: User, input: UserEdit): Promise<User> {
  const edited = await editUserWhile(
    ctx,
    user,
    input,
    isCredentialCurrent(currentCredential(ctx.actor)),
  );
  if (!edited) throw credentialEnded();
  return edited;
}

/**
 * Edits a user by a credential of its own: what it may change, a password or an address, is written
 * only while it is valid.
 *
 * @param isCredentialValid A condition that the write itself evaluates.
 * @returns Undefined if the credential is not valid any more; nothing is written then.
 * @throws Failure as `editUser` does.
 */
export async function editUserWhile(
  ctx: Ctx,
  user: User,
  input: UserEdit,
  isCredentialValid: SQL,
): Promise<User | undefined> {
  checkEdit(ctx, input);
  // SECURITY: a password always counts as changed, so that the event does not reveal whether it was
  // the same.
  const edit = differing({ ...user, password: undefined }, input);
  if (Object.keys(edit).length === 0) return user;
  const { email, password, ...columns } = edit;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const mail =
    password === undefined ? [] : await queueSignInChange(ctx, user, "Your password was changed");

  const losesAdmin =
    user.isAdmin &&
    (edit.isAdmin === false || edit.isActive === false || edit.isLoginProhibited === true);

  const isOfSignIn = password !== undefined || email !== undefined;
  try {
    const [updated] = await ctx.db.batch([
      ctx.db
        .update(users)
        .set({
          ...columns,
          ...(isOfSignIn && {
            email: onlyWhile(isCredentialValid, email ?? sql<string>`${users.email}`),
          }),
          ...(passwordHash !== undefined && { passwordHash }),
          updatedAt: losesAdmin ? onlyWhile(othersAdminister(user.id), ctx.now) : ctx.now,
        })
        .where(and(eq(users.id, user.id), sql`not ${isBeingDeleted(sql`${users.id}`)}`))
        .returning(),
      recordIfChanged(ctx, {
        type: "user.edited",
        ownerId: user.id,
        changed: Object.keys(edit).toSorted(),
      }),
      recordAuditIfChanged(ctx, {
        kind: "user.edited",
        ownerId: user.id,
        details: { changed: Object.keys(edit).toSorted() },
      }),
      ...roleChange(ctx, user, edit),
      ...(edit.visibility === undefined ? [] : forksFollow(ctx, { ownerId: user.id })),
      ...(email === undefined ? [] : primaryAddress(ctx, user, email)),
      ...mail,
    ]);
    const [row] = updated;
    if (!row) throw notFound();
    return row;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "users.email")) return undefined;
    if (isViolation(error, "NOT NULL", "users.updated_at")) {
      throw malformed("the last administrator can't be removed");
    }
    if (isViolation(error, "UNIQUE", "email_addresses.lower_email")) {
      throw malformed(`e-mail already in use [email: ${email}]`);
    }
    throw error;
  }
}

/** An entry of its own for roles and restrictions, with what they became. */
function roleChange(ctx: Ctx, user: User, edit: UserEdit) {
  const roles = {
    isAdmin: edit.isAdmin ?? user.isAdmin,
    isActive: edit.isActive ?? user.isActive,
    isRestricted: edit.isRestricted ?? user.isRestricted,
    isLoginProhibited: edit.isLoginProhibited ?? user.isLoginProhibited,
  };
  const isChanged = Object.keys(differing(user, roles)).length > 0;
  if (!isChanged) return [];
  return [
    recordAuditIfChanged(ctx, { kind: "user.role_changed", ownerId: user.id, details: roles }),
  ];
}

function checkEdit({ config }: Ctx, { email, website, password }: UserEdit): void {
  if (email !== undefined && !isEmail(email)) throw malformed("[email]: must be an e-mail address");
  checkWebAddress(website, "website");
  if (password !== undefined) checkPassword(config, password);
}

function primaryAddress(ctx: Ctx, user: User, email: string) {
  const lowerEmail = email.toLowerCase();
  const isOther = and(
    eq(emailAddresses.userId, user.id),
    ne(emailAddresses.lowerEmail, lowerEmail),
  );
  const isOwn = and(eq(emailAddresses.userId, user.id), eq(emailAddresses.lowerEmail, lowerEmail));
  const address = { userId: user.id, email, lowerEmail, isActivated: true, isPrimary: false };
  return [
    ctx.db.update(emailAddresses).set({ isPrimary: false }).where(isOther),
    // Another user's address is not deleted: the insert below then violates the unique index.
    ctx.db.delete(emailAddresses).where(isOwn),
    ctx.db.insert(emailAddresses).values({ ...address, isPrimary: true }),
  ];
}
