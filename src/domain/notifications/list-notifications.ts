import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { notifications } from "../../db/schema/index.ts";
import type { NotificationContext } from "../../shapes/issues/notification-thread.ts";
import type { Listed, Slice } from "../slice.ts";
import { names, visibleCounts, type NotificationFilter } from "./notification-filter.ts";
import { selectNotifications, toNotificationContexts } from "./select-notifications.ts";
import { selectPage } from "./select-page.ts";

/**
 * Lists the notifications of a user that the caller may see, last updated first.
 *
 * Cost: the total is a sum of counters. Only between two times, it reads the part of an index in between.
 */
export async function listNotifications(
  ctx: Ctx,
  filter: NotificationFilter,
  slice: Slice,
): Promise<Listed<NotificationContext>> {
  const [rows, repos, [counted]] = await ctx.db.batch([
    ...selectNotifications(ctx, selectPage(ctx.actor, filter, slice)),
    selectTotal(ctx, filter),
  ]);
  return {
    items: toNotificationContexts(ctx, [rows, repos]),
    total: counted?.total ?? 0,
  };
}

/** Counts the notifications of a user that the caller may see. */
export async function countNotifications(ctx: Ctx, filter: NotificationFilter): Promise<number> {
  const [counted] = await selectTotal(ctx, filter);
  return counted?.total ?? 0;
}

function selectTotal({ db, actor }: Ctx, filter: NotificationFilter) {
  const isTimed = filter.since !== undefined || filter.before !== undefined;
  const visible = visibleCounts(actor, filter);
  const counts = isTimed ? countBetween(filter, visible) : visible;
  return db
    .select({ total: sql<number>`coalesce(sum(counts.count), 0)`.as("total") })
    .from(sql`(${counts}) counts`);
}

function countBetween(filter: NotificationFilter, visible: SQL): SQL {
  const { userId, repoId, statuses, subjects, since, before } = filter;
  const isAsked = allOf(
    sql`${notifications.userId} = ${userId}`,
    repoId === undefined ? undefined : sql`${notifications.repoId} = ${repoId}`,
    sql`${notifications.status} in ${names(statuses)}`,
    sql`${notifications.subject} in ${names(subjects)}`,
    since === undefined ? undefined : sql`${notifications.updatedAt} >= ${since}`,
    before === undefined ? undefined : sql`${notifications.updatedAt} < ${before}`,
  );
  return sql`
    select found.count as count
    from (
      select ${notifications.repoId} as repo_id, ${notifications.subject} as subject,
        count(*) as count
      from ${notifications}
      where ${isAsked}
      group by ${notifications.repoId}, ${notifications.subject}
    ) found
    join (${visible}) visible
      on visible.repo_id = found.repo_id and visible.subject = found.subject`;
}
