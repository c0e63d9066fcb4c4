import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isExpiryDue, ENDED_AT_ONCE } from "./due-expiries.ts";
import { repositories } from "../../../db/schema/index.ts";

/** Messages of one run; the next run continues. */
const MESSAGES_MAX = 100;

/**
 * Queues the repositories whose end is to be announced or carried out: a message for each batch.
 *
 * Cost: one query, which reads an index of what is due.
 */
export async function sendDueExpiries({ db, now, remoteJobs }: Ctx): Promise<void> {
  const due = db
    .select({ id: repositories.id })
    .from(repositories)
    .where(isExpiryDue(now))
    .limit(MESSAGES_MAX * ENDED_AT_ONCE)
    .as("due");
  const [found] = await db.select({ count: sql<number>`count(*)` }).from(due);
  const messages = Math.ceil((found?.count ?? 0) / ENDED_AT_ONCE);
  await remoteJobs.send(Array.from({ length: messages }, () => ({ kind: "end-repositories" })));
}
