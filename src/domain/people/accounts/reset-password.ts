import { and, eq } from "drizzle-orm";

import { ANONYMOUS } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { emailAddresses, users } from "../../../db/schema/index.ts";
import { findMailedCode, isStillValid, makeMailedCode } from "../mail/mailed-codes.ts";
import { queueMail } from "../mail/queue-mail.ts";
import { editUserWhile } from "./edit-user.ts";

/**
 * Mails a link by which the owner of a confirmed address chooses a new password. Without one, does
 * nothing.
 */
export async function mailPasswordReset(ctx: Ctx, email: string): Promise<void> {
  const [found] = await ctx.db
    .select({ user: columnsOf(users, "u"), address: emailAddresses.email })
    .from(emailAddresses)
    .innerJoin(users, eq(users.id, emailAddresses.userId))
    .where(
      and(
        eq(emailAddresses.lowerEmail, email.toLowerCase()),
        eq(emailAddresses.isActivated, true),
        eq(users.kind, "user"),
        eq(users.isActive, true),
        eq(users.isLoginProhibited, false),
      ),
    );
  if (!found) return;
  const { user, address } = found;
  const { code, statements } = await makeMailedCode(ctx, user, "reset_password", address);
  const { appName } = ctx.config;
  const link = `${ctx.publicUrl}/user/recover_account?code=${code}`;
  const mail = await queueMail(ctx, {
    userId: user.id,
    // SECURITY: the stored address, not the one that was sent, which may differ in how it is
    // written.
    address,
    subject: `Choose a new password for ${appName}`,
    text: `Somebody, probably you, asked for a new password of the account ${user.name} at ${appName}.

Choose one within an hour:

${link}

If it was not you, ignore this mail: your password stays as it is.
`,
  });
  await ctx.db.batch([...statements, ...mail] as [(typeof statements)[0]]);
}

/**
 * Sets the password of the account to which a mailed link belongs. The link, all others to it and
 * all sessions end with the former password.
 *
 * @returns False for a link that was used, has ended or has expired.
 * @throws Failure as `editUser` does for the password.
 */
export async function resetPassword(ctx: Ctx, code: string, password: string): Promise<boolean> {
  const found = await findMailedCode(ctx, code, "reset_password");
  if (!found) return false;
  const { user } = found;
  const own = { ...ctx, actor: { ...ANONYMOUS, user } };
  const edit = { password, mustChangePassword: false };
  const isEdited = await editUserWhile(own, user, edit, isStillValid(ctx, found, "reset_password"));
  return isEdited !== undefined;
}
