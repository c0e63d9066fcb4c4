import { sql, type SQL } from "drizzle-orm";

import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, type Database } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { notifications } from "../../../db/schema/index.ts";
import type { NotificationContext } from "../../../shapes/issues/notification-thread.ts";
import type { Listed, Slice } from "../../slice.ts";
import {
  type NotifiedRepository,
  selectNotifiedRepositories,
} from "./select-notified-repositories.ts";
import {
  wordList,
  splitFilter,
  visibleCounts,
  type NotificationFilter,
  type NotificationKinds,
  type NotificationRange,
} from "./notification-filter.ts";
import { selectNotifications, toNotificationContexts } from "./select-notifications.ts";
import { selectPage, visible } from "./select-page.ts";

/**
 * Lists the notifications of a user that the caller may see, last updated first.
 *
 * Cost: the total is a sum of counters. Only between two times, it reads the part of an index in
 * between.
 */
export async function listNotifications(
  ctx: Ctx,
  filter: NotificationFilter,
  slice: Slice,
): Promise<Listed<NotificationContext>> {
  const { range, kinds } = splitFilter(filter);
  const { size, offset } = slice;
  const args = { principal: principalOf(ctx.actor), range, size, offset };
  const {
    counted: [counted],
    ...found
  } = await batch(ctx.db, notificationPage(ctx.db, args, kinds));
  return { items: toNotificationContexts(ctx, found), total: counted?.total ?? 0 };
}

/** A page of notifications, as `listNotifications` lists it. */
export interface Inbox extends Listed<NotificationContext> {
  /** The repositories that a filter of the list may name, whichever this one does. */
  readonly repos: readonly NotifiedRepository[];
}

/**
 * Lists the notifications of a user as `listNotifications` does, and the repositories that have
 * any of these statuses and subjects.
 *
 * Cost: one round trip.
 */
export async function listInbox(
  ctx: Ctx,
  filter: NotificationFilter,
  slice: Slice,
): Promise<Inbox> {
  const { range, kinds } = splitFilter(filter);
  const { size, offset } = slice;
  const args = { principal: principalOf(ctx.actor), range, size, offset };
  const {
    counted: [counted],
    notified: repos,
    ...found
  } = await batch(ctx.db, inbox(ctx.db, args, kinds));
  return { items: toNotificationContexts(ctx, found), total: counted?.total ?? 0, repos };
}

/** Counts the notifications of a user that the caller may see. */
export async function countNotifications(ctx: Ctx, filter: NotificationFilter): Promise<number> {
  const { range, kinds } = splitFilter(filter);
  const args = { principal: principalOf(ctx.actor), range };
  const [counted] = await notificationCount(ctx.db, args, kinds);
  return counted?.total ?? 0;
}

interface ListArguments {
  readonly principal: Principal;
  readonly range: NotificationRange;
}

const notificationPage = prepareAll(
  (db, p: Params<ListArguments & Slice>, kinds: NotificationKinds) =>
    selectNotificationPage(db, p, kinds),
);

const inbox = prepareAll((db, p: Params<ListArguments & Slice>, kinds: NotificationKinds) => ({
  ...selectNotificationPage(db, p, kinds),
  notified: selectNotifiedRepositories(db, p.principal, p.range.userId, kinds),
}));

function selectNotificationPage(
  db: Database,
  p: Params<ListArguments & Slice>,
  kinds: NotificationKinds,
) {
  const page = selectPage(p.principal, p.range, kinds, p);
  return { ...selectNotifications(db, p.principal, page), counted: selectTotal(db, p, kinds) };
}

const notificationCount = prepare((db, p: Params<ListArguments>, kinds: NotificationKinds) =>
  selectTotal(db, p, kinds),
);

function selectTotal(
  db: Database,
  { principal, range }: Params<ListArguments>,
  kinds: NotificationKinds,
) {
  const isTimed = range.since !== undefined || range.before !== undefined;
  const all = visibleCounts(principal, range, kinds);
  const counts = isTimed ? countBetween(range, kinds, all) : all;
  return db
    .select({ total: sql<number>`coalesce(sum(count), 0)`.as("total") })
    .from(sql`(${counts})`);
}

const found = derivedTable("found", "repoId", "subject", "count");

function countBetween(
  { userId, repoId, since, before }: Params<NotificationRange>,
  { statuses, subjects }: NotificationKinds,
  counts: SQL,
): SQL {
  const isListed = allOf(
    sql`${notifications.userId} = ${userId}`,
    repoId === undefined ? undefined : sql`${notifications.repoId} = ${repoId}`,
    sql`${notifications.status} in ${wordList(statuses)}`,
    sql`${notifications.subject} in ${wordList(subjects)}`,
    since === undefined ? undefined : sql`${notifications.updatedAt} >= ${since}`,
    before === undefined ? undefined : sql`${notifications.updatedAt} < ${before}`,
  );
  return sql`
    select ${found.count} as count
    from (
      select ${notifications.repoId}, ${notifications.subject}, count(*) as count
      from ${notifications}
      where ${isListed}
      group by ${notifications.repoId}, ${notifications.subject}
    ) ${found}
    join (${counts}) ${visible}
      on ${visible.repoId} = ${found.repoId} and ${visible.subject} = ${found.subject}`;
}
