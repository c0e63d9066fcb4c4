import { sql } from "drizzle-orm";

import { notifications } from "../../../db/schema/index.ts";

/**
 * The fields of a notification that a later event of its subject changes: it is unread again. A
 * pinned one stays pinned.
 */
export const RENEWAL = {
  status: sql`case ${notifications.status}
    when 'read' then 'unread'
    else ${notifications.status}
  end`,
  eventId: sql`excluded.event_id`,
  updatedAt: sql`excluded.updated_at`,
};

/** Whether an event is later than the last one of a notification. */
export const isLaterEvent = sql`${notifications.eventId} < excluded.event_id`;
