import { sql } from "drizzle-orm";

import { notifications } from "../../../db/schema/index.ts";

/**
 * What a notification becomes when a later event tells of its subject again. A pinned one stays
 * pinned.
 */
export const TOLD_AGAIN = {
  status: sql`case ${notifications.status}
    when 'read' then 'unread'
    else ${notifications.status}
  end`,
  eventId: sql`excluded.event_id`,
  updatedAt: sql`excluded.updated_at`,
};

/** Whether the event is later than the one that a notification tells of. */
export const isLaterEvent = sql`${notifications.eventId} < excluded.event_id`;
