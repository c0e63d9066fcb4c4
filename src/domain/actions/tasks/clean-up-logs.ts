import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  discardedLogs,
  runners,
  workflowLogPieces,
  workflowTasks,
} from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** For how long logs are kept, in milliseconds. */
const RETENTION_MS = 365 * DAY_MS;
/** After how long an ephemeral runner without a request is deleted, in milliseconds. */
const EPHEMERAL_MS = DAY_MS;

/** Logs that one call deletes, at most. */
const LOGS_MAX = 100;

/**
 * Deletes the logs of deleted tasks and those past their retention, and ephemeral runners that will
 * not come back.
 */
export async function cleanUpLogs(ctx: Ctx): Promise<void> {
  await discardOldLogs(ctx);
  await deleteDiscardedLogs(ctx);
  const { db, now } = ctx;
  await db
    .delete(runners)
    .where(and(sql`${runners.isEphemeral} = 1`, lt(runners.lastOnlineAt, now - EPHEMERAL_MS)));
}

/** Marks logs past their retention: nobody reads them any more. */
async function discardOldLogs({ db, now }: Ctx): Promise<void> {
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
      discardedLogs,
      { taskId: workflowTasks.id },
      sql`from ${workflowTasks} where ${and(inArray(workflowTasks.id, listed), isOld)}`,
    ).onConflictDoNothing(),
    marked: db
      .update(workflowTasks)
      .set({ logDeletedAt: now, isLogClosed: true })
      .where(and(inArray(workflowTasks.id, listed), isOld)),
    pieces: db.delete(workflowLogPieces).where(
      sql`${workflowLogPieces.taskId} in ${listed} and ${workflowLogPieces.taskId} in (
          select ${discardedLogs.taskId} from ${discardedLogs}
        )`,
    ),
  });
}

/** Deletes files: first those, then the row that names them. */
async function deleteDiscardedLogs({ db, git }: Ctx): Promise<void> {
  const discarded = await db
    .select()
    .from(discardedLogs)
    .orderBy(asc(discardedLogs.taskId))
    .limit(LOGS_MAX);
  for (const { taskId } of discarded) {
    await git.logFiles.deleteLog(taskId);
    await db.delete(discardedLogs).where(eq(discardedLogs.taskId, taskId));
  }
}
