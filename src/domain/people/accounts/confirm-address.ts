import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { emailAddresses, type User } from "../../../db/schema/index.ts";
import {
  deleteMailedCode,
  findMailedCode,
  isStillValid,
  makeMailedCode,
} from "../mail/mailed-codes.ts";
import { queueMail } from "../mail/queue-mail.ts";

/** The statements that mail a link by which the owner of an address confirms it. */
export async function mailConfirmation(ctx: Ctx, user: User, email: string) {
  const { appName } = ctx.config;
  const { code, statements } = await makeMailedCode(ctx, user, "confirm_address", email);
  const mail = await queueMail(ctx, {
    userId: user.id,
    address: email,
    subject: `Confirm your address for ${appName}`,
    text: `The account ${user.name} at ${appName} states that this address is theirs.

If it is yours, confirm it within a day:

${ctx.publicUrl}/user/activate_email?code=${code}

If not, ignore this mail: the address stays unconfirmed.
`,
  });
  return [...statements, ...mail];
}

/**
 * Confirms the address to which a mailed link was sent.
 *
 * @returns False for a link that was used, has ended or has expired.
 */
export async function confirmAddress(ctx: Ctx, code: string): Promise<boolean> {
  const found = await findMailedCode(ctx, code, "confirm_address");
  if (!found) return false;
  const isAddress = eq(emailAddresses.id, found.address.id);
  const [confirmed] = await ctx.db.batch([
    ctx.db
      .update(emailAddresses)
      .set({ isActivated: true })
      .where(and(isAddress, isStillValid(ctx, found, "confirm_address")))
      .returning({ id: emailAddresses.id }),
    deleteMailedCode(ctx, found),
  ]);
  return confirmed.length > 0;
}
