import type { SQL } from "drizzle-orm";

import { seal } from "../../../auth/seal.ts";
import type { Config } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { mails } from "../../../db/schema/index.ts";

/** The purpose for which the content of mails is sealed. */
export const MAIL_PURPOSE = "mail";

/** A mail to send. */
export interface QueuedMail {
  /**
   * The account that it is for, with which it is deleted; SQL for one that the same batch inserts,
   * null for none.
   */
  userId: number | SQL<number> | null;
  address: string;
  subject: string;
  /** Plain text. */
  text: string;
}

/** Whether the service sends mail: it has a sender, and a key to seal mails that wait. */
export const isMailOn = ({ mailFrom, sealingKeys }: Config): boolean =>
  mailFrom !== "" && sealingKeys.length > 0;

/**
 * The statements that queue a mail. They belong into the batch of the change that the mail is
 * about, so that it leaves exactly if the change is made. A service without mail queues nothing.
 *
 * @returns A list, since a statement alone would run when it is awaited.
 */
export async function queueMail(
  { db, config, mailer, now }: Ctx,
  { userId, address, subject, text }: QueuedMail,
) {
  if (!isMailOn(config)) return [];
  const content = JSON.stringify({ subject, text });
  const sealedContent = await seal(config.sealingKeys, content, MAIL_PURPOSE);
  mailer.noteQueued();
  // Before all notifications that wait: somebody may be waiting for a link to sign in.
  return [db.insert(mails).values({ userId, address, sealedContent, dueAt: 0, createdAt: now })];
}
