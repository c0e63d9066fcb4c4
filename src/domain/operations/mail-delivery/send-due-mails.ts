import { eq, inArray, lte, sql } from "drizzle-orm";
import { z } from "zod";

import { unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { mails } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import { settled } from "../../../lib/settled.ts";
import type { Mail } from "../../../outgoing/mailer.ts";
import { isMailOn, MAIL_PURPOSE } from "../../people/mail/queue-mail.ts";

const MINUTE_MS = 60_000;
/** Mails that are leased and sent at once. */
const SENT_MAX = 20;
/** Mails under way at the same time. */
const CONCURRENT_MAX = 5;
/** How long a run of the schedule goes on, in milliseconds. */
const RUN_MS = 25_000;
/** How long a mail is not sent again while an attempt may be under way, in milliseconds. */
const LEASE_MS = 5 * MINUTE_MS;
/** Attempts at one mail. With the waits below, the last is made after about ten hours. */
const ATTEMPTS_MAX = 8;

const Content = z.object({ subject: z.string(), text: z.string() });

/**
 * Sends queued mails that are due. A mail leaves at least once: it is deleted after it was
 * accepted. One that is refused waits longer each time, and is given up in the end.
 *
 * @returns Whether more may be due: one call sends a few, and the schedule continues.
 */
export async function sendDueMails(ctx: Ctx): Promise<boolean> {
  const { db, config, now } = ctx;
  if (!isMailOn(config)) return false;
  // Concurrent calls send different mails, since each leases its own.
  const leased = await leaseDue(db, { now });
  const waiting = [...leased];
  const sendWaiting = async (): Promise<void> => {
    for (let mail = waiting.shift(); mail; mail = waiting.shift()) await send(ctx, mail);
  };
  await settled(Array.from({ length: CONCURRENT_MAX }, sendWaiting));
  return leased.length === SENT_MAX;
}

/** Sends all mails that are due, as far as the time of one run goes. */
export async function sendAllDueMails(ctx: Ctx): Promise<void> {
  const startedAt = Date.now();
  while (Date.now() - startedAt < RUN_MS && (await sendDueMails(ctx)));
}

const leaseDue = prepare((db, { now }: Params<{ now: number }>) => {
  const due = db
    .select({ id: mails.id })
    .from(mails)
    .where(lte(mails.dueAt, now))
    .orderBy(mails.dueAt)
    .limit(SENT_MAX);
  return db
    .update(mails)
    .set({ dueAt: sql`${now} + ${LEASE_MS}`, attempts: sql`${mails.attempts} + 1` })
    .where(inArray(mails.id, due))
    .returning();
});

const deleteMail = prepare((db, { id }: Params<{ id: number }>) =>
  db.delete(mails).where(eq(mails.id, id)),
);

type QueuedMailRow = typeof mails.$inferSelect;

async function send(ctx: Ctx, mail: QueuedMailRow): Promise<void> {
  const { db, config, mailer, now } = ctx;
  const { id, attempts } = mail;
  try {
    const content = await writeMail(ctx, mail);
    if (content) await mailer.send({ from: config.mailFrom, ...content });
    await deleteMail(db, { id });
  } catch (error) {
    // SECURITY: the error may contain the address, so only its kind is logged.
    const name = error instanceof Error ? error.name : typeof error;
    log("mail:failed", { id, attempts, error: name });
    if (attempts >= ATTEMPTS_MAX) await deleteMail(db, { id });
    else
      await db
        .update(mails)
        .set({ dueAt: now + MINUTE_MS * 2.5 ** attempts })
        .where(eq(mails.id, id));
  }
}

/** The mail of a row; undefined for one that is not to be sent. */
async function writeMail(ctx: Ctx, mail: QueuedMailRow): Promise<Omit<Mail, "from"> | undefined> {
  const { id, address, sealedContent, issueId, eventId } = mail;
  if (issueId !== null && eventId !== null) {
    // Loaded on first use: the renderer is heavy, and most mails need none.
    const { writeNotificationMail } =
      await import("../../issues/notifications/notification-mail.ts");
    return writeNotificationMail(ctx, { ...mail, issueId, eventId });
  }
  const unsealed = await unseal(ctx.config.sealingKeys, sealedContent, MAIL_PURPOSE);
  if (unsealed.kind === "open") return { to: address, ...Content.parse(JSON.parse(unsealed.text)) };
  log("mail:unreadable", { id, reason: unsealed.kind });
  return undefined;
}
