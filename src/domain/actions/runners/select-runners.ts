import { and, eq, exists, getTableColumns, gt, isNull, type SQL, sql } from "drizzle-orm";

import { type Database, flagColumn } from "../../../db/db.ts";
import type { Params } from "../../../db/prepared.ts";
import { runners, workflowTasks } from "../../../db/schema/index.ts";
import { isAtLevel, type LevelArgument } from "../level.ts";

/** The columns of a runner, and whether a job runs on it. */
export const runnerColumns = (db: Database) => ({
  ...getTableColumns(runners),
  isBusy: flagColumn(isBusy(db), "is_busy"),
});

export const selectRunners = (db: Database) => db.select(runnerColumns(db)).from(runners);

const isBusy = (db: Database): SQL =>
  exists(
    db
      .select({ id: workflowTasks.id })
      .from(workflowTasks)
      .where(and(eq(workflowTasks.runnerId, runners.id), sql`${workflowTasks.state} = 'running'`)),
  );

/**
 * The condition for runners that somebody who administers a level sees. Administrators of the
 * service see those of every level.
 */
export const isSeenAt = (level: LevelArgument | Params<LevelArgument>): SQL | undefined =>
  and(
    isNull(runners.endedAt),
    "isService" in level ? gt(runners.id, 0) : isAtLevel(runners, level),
  );
