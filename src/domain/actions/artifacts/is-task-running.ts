import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import { workflowTasks } from "../../../db/schema/index.ts";

/** Whether the task of a row, or of an id, runs. */
export const isTaskRunning = (taskId: SQLiteColumn | SQL | number): SQL =>
  sql`exists (
    select 1 from ${workflowTasks} t where t.id = ${taskId} and t.state = 'running'
  )`;
