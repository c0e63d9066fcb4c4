import { sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { notifications } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { NotificationContext } from "../../../shapes/issues/notification-thread.ts";
import { REQUIREMENT_OF } from "./notification-filter.ts";
import { selectNotifications, toNotificationContexts } from "./select-notifications.ts";

/**
 * Finds a notification of the caller, or anybody's for an administrator of the site.
 *
 * @throws Failure `not_found` also for one of somebody else, and where the caller may not see its
 *   subject any more.
 */
export async function findNotification(ctx: Ctx, id: number): Promise<NotificationContext> {
  const one = { principal: principalOf(ctx.actor), id };
  const rows = await batch(ctx.db, notificationById(ctx.db, one));
  const [found] = toNotificationContexts(ctx, rows);
  if (!found || (found.row.userId !== ctx.actor.user?.id && !ctx.actor.isSiteAdmin)) {
    throw notFound();
  }
  // SECURITY: the thread outlives its reader's access to the repository.
  if (!isAllowed(found.repo, REQUIREMENT_OF[found.row.subject])) throw notFound();
  return found;
}

const notificationById = prepareAll(
  (db, { principal, id }: Params<{ principal: Principal; id: number }>) => {
    const one = sql`(
      select ${notifications.id}, ${notifications.repoId}
      from ${notifications}
      where ${notifications.id} = ${id}
    )`;
    return selectNotifications(db, principal, one);
  },
);
