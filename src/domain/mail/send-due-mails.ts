import { eq, inArray, lte, sql } from "drizzle-orm";
import { z } from "zod";

import { unseal } from "../../auth/seal.ts";
import type { Ctx } from "../../context.ts";
import { mails } from "../../db/schema/index.ts";
import { log } from "../../lib/log.ts";
import { isMailOn, MAIL_PURPOSE } from "./queue-mail.ts";

const MINUTE_MS = 60_000;
/** Mails that one call sends; the schedule continues. */
const SENT_MAX = 20;
/** How long a mail is not sent again while an attempt may be under way, in milliseconds. */
const LEASE_MS = 5 * MINUTE_MS;
/** Attempts at one mail. With the waits below, the last is made after about ten hours. */
const ATTEMPTS_MAX = 8;

const Content = z.object({ subject: z.string(), text: z.string() });

/**
 * Sends queued mails that are due. A mail leaves at least once: it is deleted after it was accepted. One that is refused
 * waits longer each time, and is given up in the end.
 */
export async function sendDueMails(ctx: Ctx): Promise<void> {
  const { db, config, now } = ctx;
  if (!isMailOn(config)) return;
  const due = db
    .select({ id: mails.id })
    .from(mails)
    .where(lte(mails.dueAt, now))
    .orderBy(mails.dueAt)
    .limit(SENT_MAX);
  // Of two calls at once, each sends what it leased.
  const leased = await db
    .update(mails)
    .set({ dueAt: now + LEASE_MS, attempts: sql`${mails.attempts} + 1` })
    .where(inArray(mails.id, due))
    .returning();
  for (const mail of leased) await send(ctx, mail);
}

async function send(
  { db, config, mailer, now }: Ctx,
  { id, address, sealedContent, attempts }: typeof mails.$inferSelect,
): Promise<void> {
  const unsealed = await unseal(config.sealingKeys, sealedContent, MAIL_PURPOSE);
  const isMail = eq(mails.id, id);
  if (unsealed.kind !== "open") {
    log("mail:unreadable", { id, reason: unsealed.kind });
    await db.delete(mails).where(isMail);
    return;
  }
  const content = Content.parse(JSON.parse(unsealed.text));
  try {
    await mailer.send({ from: config.mailFrom, to: address, ...content });
    await db.delete(mails).where(isMail);
  } catch (error) {
    // SECURITY: the error may contain the address, so only its kind is logged.
    const name = error instanceof Error ? error.name : typeof error;
    log("mail:failed", { id, attempts, error: name });
    if (attempts >= ATTEMPTS_MAX) await db.delete(mails).where(isMail);
    else
      await db
        .update(mails)
        .set({ dueAt: now + MINUTE_MS * 2.5 ** attempts })
        .where(isMail);
  }
}
