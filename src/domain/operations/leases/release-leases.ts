import { gt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import {
  accountDeletions,
  events,
  hooks,
  imports,
  pullMirrors,
  pushMirrors,
} from "../../../db/schema/index.ts";

/**
 * Ends the leases of jobs, so that the schedule takes up at once what a killed process left,
 * instead of after minutes. An event that waits for another attempt is attempted early.
 *
 * Only for a caller that knows that no job runs: where one does, another would do its work beside
 * it.
 */
export async function releaseLeases({ db, now }: Ctx): Promise<void> {
  await db.batch([
    db.update(hooks).set({ leasedUntil: null }).where(gt(hooks.leasedUntil, now)),
    db.update(events).set({ dispatchAt: now }).where(gt(events.dispatchAt, now)),
    db.update(events).set({ consequencesAt: now }).where(gt(events.consequencesAt, now)),
    ...[accountDeletions, pullMirrors, pushMirrors, imports].map((table) =>
      db.update(table).set({ leasedUntil: 0 }).where(gt(table.leasedUntil, now)),
    ),
  ]);
}
