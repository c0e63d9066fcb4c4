import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { reviews, type TimelineEntry } from "../../../db/schema/index.ts";
import {
  eventArgument,
  type EventArgument,
  recordBy,
  recordIfChanged,
} from "../../../events/record.ts";

/**
 * Like `recordIfChanged`, for an event of a comment that may be one on code.
 *
 * SECURITY: there are no events of comments of a pending review.
 */
export const recordOfComment = (
  ctx: Ctx,
  { reviewId }: Pick<TimelineEntry, "reviewId">,
  event: Parameters<typeof recordIfChanged>[1],
) =>
  reviewId === null
    ? recordIfChanged(ctx, event)
    : recordUnlessPending(ctx.db, { reviewId, event: eventArgument(ctx, event) });

const recordUnlessPending = prepare(
  (db, { reviewId, event }: Params<{ reviewId: number; event: EventArgument }>) =>
    recordBy(
      db,
      event,
      {},
      sql`
        where changes() > 0 and not exists (
          select 1
          from ${reviews}
          where ${reviews.id} = ${reviewId} and ${reviews.state} = 'pending'
        )`,
    ),
);
