import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { queueMail, type QueuedMail } from "./queue-mail.ts";

type Recipient = Pick<QueuedMail, "userId" | "address"> & { name: string };

/** The statements that notify people of the account that an administrator created for them. */
export const queueWelcome = (ctx: Ctx, { userId, address, name }: Recipient) =>
  queueMail(ctx, {
    userId,
    address,
    subject: `Your account at ${ctx.config.appName}`,
    text: `An administrator of ${ctx.config.appName} created the account ${name} for you.

Sign in with the password that you were given, or choose one of your own:

${ctx.publicUrl}/user/forgot_password
`,
  });

/**
 * The statements that notify users of changes to their sign-in.
 *
 * SECURITY: to the address that the account had before, so that who took an account over can't keep
 * it from its owner.
 *
 * @param change A sentence without the full stop.
 */
export const queueSignInChange = (ctx: Ctx, { id, email, name }: User, change: string) =>
  queueMail(ctx, {
    userId: id,
    address: email,
    subject: `${change} at ${ctx.config.appName}`,
    text: `${change}, of the account ${name} at ${ctx.config.appName}.

If it was neither you nor an administrator, choose a new password at once:

${ctx.publicUrl}/user/forgot_password
`,
  });
