import { and, eq, sql } from "drizzle-orm";

import { JOBS_USER_ID } from "../../../auth/actor.ts";
import type { Database } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  ACCESS,
  accessTokenRepositories,
  accessTokens,
  type JobPermissions,
  type TeamUnits,
  type Unit,
  type WorkflowTask,
  workflowTasks,
} from "../../../db/schema/index.ts";

/** The units of a repository to which each permission of a workflow leads. */
const UNITS_OF: Readonly<Record<keyof JobPermissions, readonly Unit[]>> = {
  actions: ["actions"],
  contents: ["code", "releases", "wiki"],
  issues: ["issues", "projects"],
  packages: ["packages"],
  "pull-requests": ["pulls"],
  statuses: [],
};

/** Scopes bound what kinds of requests the token is for; the grants bound what it may do there. */
const SCOPES = "write:issue,write:misc,write:package,write:repository,read:user,read:organization";

/** What the token of a job may do in its repository. */
function toGrants(permissions: JobPermissions): TeamUnits {
  const grants: Partial<Record<Unit, (typeof ACCESS)["read" | "write"]>> = {};
  for (const [name, mode] of Object.entries(permissions)) {
    for (const unit of UNITS_OF[name as keyof JobPermissions] ?? []) grants[unit] = ACCESS[mode];
  }
  return grants;
}

/**
 * The statements that make the token of a task, bound to its repository. It ends with the task, by
 * a trigger; and is not made for one that has ended meanwhile.
 */
export function jobTokenStatements(
  db: Database,
  task: WorkflowTask,
  token: { readonly lastEight: string; readonly permissions: JobPermissions },
) {
  const made = sql`(
    select ${accessTokens.id} from ${accessTokens} where ${accessTokens.taskId} = ${task.id}
  )`;
  const row = {
    userId: JOBS_USER_ID,
    name: `task ${task.id}`,
    secretHash: task.tokenHash,
    lastEight: token.lastEight,
    scopes: SCOPES,
    isBound: true,
    grants: toGrants(token.permissions),
    taskId: task.id,
    createdAt: task.startedAt,
  };
  return {
    token: insertSelect(
      db,
      accessTokens,
      row,
      sql`from ${workflowTasks}
        where ${and(eq(workflowTasks.id, task.id), eq(workflowTasks.state, "running"))}`,
    ),
    repository: insertSelect(
      db,
      accessTokenRepositories,
      { tokenId: made, repoId: task.repoId },
      sql`where ${made} is not null`,
    ),
  };
}
