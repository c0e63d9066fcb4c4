import { and, asc, eq, gt, inArray, isNull, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { replaceRows } from "../../../../db/replace-rows.ts";
import { webhookEvents, hookDeliveries } from "../../../../db/schema/index.ts";
import { WorkBudget } from "../../../../lib/work-budget.ts";
import { type Archive, ARCHIVED_COLUMNS } from "./delivery-archive.ts";

/** Webhook events stay as they are for this time, in which most deliveries end. */
const KEPT_MS = 60 * 60 * 1000;
/** Webhook events that one statement examines. */
const EXAMINED_AT_ONCE = 200;
/**
 * Characters of one archive, roughly, and of one webhook event in it: a larger one, of many hooks
 * with long answers, stays as it is.
 */
const SIZE_MAX = 2 * 1024 * 1024;
const EVENT_SIZE_MAX = 8 * 1024 * 1024;

const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 1000;

/**
 * Moves the payloads of webhook events, and what was sent and answered, into the bucket, once no
 * delivery of them is pending: many of them are one file. Their rows keep what lists show.
 *
 * Safe to repeat and to run concurrently: a file that is written and not referred to is deleted
 * with its day, and a delivery that changes meanwhile stays as it is.
 */
export async function archiveDeliveries(ctx: Ctx): Promise<void> {
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: STATEMENTS_MAX });
  let after = 0;
  while (!budget.isExhausted) {
    budget.consume(1);
    const examined = await examine(ctx, after);
    const settled = examined.filter(({ isPending, size }) => !isPending && size <= EVENT_SIZE_MAX);
    for (const ids of groupsOf(settled)) {
      budget.consume(4);
      await archive(ctx, ids);
    }
    if (examined.length < EXAMINED_AT_ONCE) return;
    after = examined.at(-1)?.id ?? 0;
  }
}

/** Selects the first webhook events after one that are not archived and old enough. */
function examine({ db, now }: Ctx, after: number) {
  const ofEvent = eq(hookDeliveries.webhookEventId, webhookEvents.id);
  const texts = ARCHIVED_COLUMNS.map((name) => sql`coalesce(length(${hookDeliveries[name]}), 0)`);
  const attempts = sql`(
    select coalesce(sum(${sql.join(texts, sql` + `)}), 0) from ${hookDeliveries} where ${ofEvent}
  )`;
  const pending = sql`exists (
    select 1 from ${hookDeliveries} where ${ofEvent} and ${hookDeliveries.status} = 'pending'
  )`;
  return db
    .select({
      id: webhookEvents.id,
      size: sql<number>`length(${webhookEvents.payload}) + ${attempts}`.as("size"),
      isPending: sql<number>`${pending}`.as("is_pending"),
    })
    .from(webhookEvents)
    .where(
      and(
        isNull(webhookEvents.archive),
        gt(webhookEvents.id, after),
        sql`${webhookEvents.createdAt} < ${now - KEPT_MS}`,
      ),
    )
    .orderBy(asc(webhookEvents.id))
    .limit(EXAMINED_AT_ONCE);
}

/** Groups the ids of webhook events so that each group is one archive. */
function groupsOf(events: readonly { readonly id: number; readonly size: number }[]): number[][] {
  const groups: number[][] = [];
  let size = SIZE_MAX;
  for (const event of events) {
    if (size + event.size > SIZE_MAX) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(event.id);
    size += event.size;
  }
  return groups;
}

async function archive({ db, git, now }: Ctx, ids: readonly number[]): Promise<void> {
  const these = sql`(select value from json_each(${JSON.stringify(ids)}))`;
  const { requestUrl, requestHeaders, requestBody, responseHeaders, responseBody } = hookDeliveries;
  const { id, webhookEventId, updatedAt } = hookDeliveries;
  const found = await batch(db, {
    events: db
      .select({ id: webhookEvents.id, payload: webhookEvents.payload })
      .from(webhookEvents)
      .where(and(inArray(webhookEvents.id, these), isNull(webhookEvents.archive))),
    deliveries: db
      .select({
        id,
        webhookEventId,
        updatedAt,
        attempt: { requestUrl, requestHeaders, requestBody, responseHeaders, responseBody },
      })
      .from(hookDeliveries)
      .where(inArray(webhookEventId, these)),
  });
  const ofEvent = Map.groupBy(found.deliveries, (delivery) => delivery.webhookEventId);
  const content: Archive = Object.fromEntries(
    found.events.map((event) => {
      const deliveries = ofEvent.get(event.id) ?? [];
      const attempts = Object.fromEntries(deliveries.map((each) => [each.id, each.attempt]));
      return [event.id, { payload: event.payload, attempts }];
    }),
  );
  const name = await git.deliveryArchives.put(JSON.stringify(content), now);
  const unchanged = JSON.stringify(found.deliveries.map((each) => [each.id, each.updatedAt]));
  const isArchivedHere = sql`exists (
    select 1
    from ${webhookEvents}
    where ${webhookEvents.id} = ${webhookEventId} and ${webhookEvents.archive} = ${name}
  )`;
  await db.batch([
    replaceRows(
      db,
      webhookEvents,
      { payload: sql`'{}'`, archive: sql`${name}` },
      sql`${webhookEvents.id} in ${these} and ${webhookEvents.archive} is null`,
    ),
    // What is requested meanwhile, or attempted again, has changed.
    replaceRows(
      db,
      hookDeliveries,
      {
        isArchived: sql`1`,
        requestUrl: sql`''`,
        requestHeaders: sql`null`,
        requestBody: sql`null`,
        responseHeaders: sql`null`,
        responseBody: sql`null`,
      },
      sql`${webhookEventId} in ${these} and ${isArchivedHere} and (${id}, ${updatedAt}) in (
        select value ->> 0, value ->> 1 from json_each(${unchanged})
      )`,
    ),
  ]);
}
