import { and, eq, sql } from "drizzle-orm";

import { JOBS_USER_ID } from "../../../auth/actor.ts";
import type { Database } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  ACCESS,
  accessTokenRepositories,
  accessTokens,
  type JobGrants,
  type JobPermissions,
  type WorkflowTask,
  workflowTasks,
} from "../../../db/schema/index.ts";

/** What each permission of a workflow grants in a repository. */
const GRANTED_BY: Readonly<Record<keyof JobPermissions, readonly (keyof JobGrants)[]>> = {
  actions: ["actions"],
  contents: ["code", "releases", "wiki"],
  issues: ["issues", "projects"],
  packages: ["packages"],
  "pull-requests": ["pulls"],
  statuses: ["statuses"],
};

/** Scopes bound what kinds of requests the token is for; the grants bound what it may do there. */
const SCOPES = "write:issue,write:misc,write:package,write:repository,read:user,read:organization";

/**
 * What the token of a job may do in its repository.
 *
 * SECURITY: strangers wrote the workflow of a run of a fork: whatever it asks for, it reads.
 */
function toGrants(permissions: JobPermissions, isFromFork: boolean): JobGrants {
  const granted = Object.entries(permissions).flatMap(([name, mode]) =>
    (GRANTED_BY[name as keyof JobPermissions] ?? []).map(
      (each) => [each, ACCESS[isFromFork ? "read" : mode]] as const,
    ),
  );
  return Object.fromEntries(granted);
}

/**
 * The statements that make the token of a task, bound to its repository. It ends with the task, by
 * a trigger; and is not made for one that has ended meanwhile.
 */
export function jobTokenStatements(
  db: Database,
  task: WorkflowTask,
  token: {
    readonly lastEight: string;
    readonly permissions: JobPermissions;
    readonly isFromFork: boolean;
  },
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
    grants: toGrants(token.permissions, token.isFromFork),
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
