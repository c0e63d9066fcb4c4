import { and, asc, inArray, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  discardedWork,
  workflowArtifactFiles,
  workflowArtifacts,
} from "../../../db/schema/index.ts";
import { isTaskRunning } from "./is-task-running.ts";

/** After how long without a request an upload is given up whose task has ended, in milliseconds. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Artifacts that one call looks at, at most. */
const ARTIFACTS_MAX = 100;

/** Deletes what was uploaded of artifacts that are too old; they stay in lists as expired. */
export async function expireArtifacts({ db, now }: Ctx): Promise<void> {
  const isOld = and(
    sql`${workflowArtifacts.state} = 'ready'`,
    lt(workflowArtifacts.expiresAt, now),
  );
  const old = await db
    .select({ id: workflowArtifacts.id })
    .from(workflowArtifacts)
    .where(isOld)
    .orderBy(asc(workflowArtifacts.expiresAt))
    .limit(ARTIFACTS_MAX);
  if (old.length === 0) return;
  const ids = JSON.stringify(old.map(({ id }) => id));
  const listed = sql`(select value from json_each(${ids}))`;
  const isListed = and(inArray(workflowArtifacts.id, listed), isOld);
  await batch(db, {
    discarded: insertSelect(
      db,
      discardedWork,
      { kind: "artifact", id: workflowArtifacts.id },
      sql`from ${workflowArtifacts} where ${isListed}`,
    ).onConflictDoNothing(),
    expired: db.update(workflowArtifacts).set({ state: "expired", updatedAt: now }).where(isListed),
    files: db.delete(workflowArtifactFiles).where(
      sql`${workflowArtifactFiles.artifactId} in (
        select ${workflowArtifacts.id} from ${workflowArtifacts}
        where ${workflowArtifacts.id} in ${listed} and ${workflowArtifacts.state} = 'expired'
      )`,
    ),
  });
}

/** Deletes artifacts whose tasks have ended before they were finished. */
export async function dropAbandonedUploads({ db, now }: Ctx): Promise<void> {
  const abandoned = db
    .select({ id: workflowArtifacts.id })
    .from(workflowArtifacts)
    .where(
      and(
        sql`${workflowArtifacts.state} = 'pending'`,
        lt(workflowArtifacts.updatedAt, now - ABANDONED_MS),
        sql`not ${isTaskRunning(workflowArtifacts.taskId)}`,
      ),
    )
    .orderBy(asc(workflowArtifacts.updatedAt))
    .limit(ARTIFACTS_MAX);
  await db.delete(workflowArtifacts).where(inArray(workflowArtifacts.id, abandoned));
}
