import { and, asc, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { discardedWork, workflowLogPieces, workflowTasks } from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** For how long logs are kept, in milliseconds. */
const RETENTION_MS = 365 * DAY_MS;

/** Logs that one call looks at, at most. */
const LOGS_MAX = 100;

/** Discards logs past their retention: nobody reads them any more. */
export async function discardOldLogs({ db, now }: Ctx): Promise<void> {
  const isOld = and(
    sql`${workflowTasks.logBytes} > 0 and ${workflowTasks.logDeletedAt} is null`,
    lt(workflowTasks.stoppedAt, now - RETENTION_MS),
  );
  const old = await db
    .select({ id: workflowTasks.id })
    .from(workflowTasks)
    .where(isOld)
    .orderBy(asc(workflowTasks.stoppedAt))
    .limit(LOGS_MAX);
  if (old.length === 0) return;
  const ids = JSON.stringify(old.map(({ id }) => id));
  const listed = sql`(select value from json_each(${ids}))`;
  await batch(db, {
    discarded: insertSelect(
      db,
      discardedWork,
      { kind: "log", id: workflowTasks.id },
      sql`from ${workflowTasks} where ${and(inArray(workflowTasks.id, listed), isOld)}`,
    ).onConflictDoNothing(),
    marked: db
      .update(workflowTasks)
      .set({ logDeletedAt: now, isLogClosed: true })
      .where(and(inArray(workflowTasks.id, listed), isOld)),
    pieces: db.delete(workflowLogPieces).where(
      sql`${workflowLogPieces.taskId} in ${listed} and ${workflowLogPieces.taskId} in (
          select ${discardedWork.id} from ${discardedWork} where ${discardedWork.kind} = 'log'
        )`,
    ),
  });
}
