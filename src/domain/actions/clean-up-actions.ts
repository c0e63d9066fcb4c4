import { and, asc, eq, lt, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { discardedWork, runners } from "../../db/schema/index.ts";
import { dropAbandonedUploads, expireArtifacts } from "./artifacts/expire-artifacts.ts";
import { discardOldLogs } from "./tasks/discard-old-logs.ts";

/** After how long an ephemeral runner without a request is deleted, in milliseconds. */
const EPHEMERAL_MS = 24 * 60 * 60 * 1000;

/** Logs and artifacts whose files one call deletes, at most. */
const DISCARDED_MAX = 100;

/**
 * Deletes logs and artifacts that are too old, the files of those that are gone, and ephemeral
 * runners that will not come back.
 */
export async function cleanUpActions(ctx: Ctx): Promise<void> {
  await discardOldLogs(ctx);
  await expireArtifacts(ctx);
  await dropAbandonedUploads(ctx);
  await deleteDiscarded(ctx);
  const { db, now } = ctx;
  await db
    .delete(runners)
    .where(and(sql`${runners.isEphemeral} = 1`, lt(runners.lastOnlineAt, now - EPHEMERAL_MS)));
}

/** Deletes files: first those, then the row that names them. */
async function deleteDiscarded({ db, git }: Ctx): Promise<void> {
  const discarded = await db
    .select()
    .from(discardedWork)
    .orderBy(asc(discardedWork.kind), asc(discardedWork.id))
    .limit(DISCARDED_MAX);
  for (const { kind, id } of discarded) {
    if (kind === "log") await git.logFiles.deleteLog(id);
    else await git.artifactFiles.deleteArtifact(id);
    await db
      .delete(discardedWork)
      .where(and(eq(discardedWork.kind, kind), eq(discardedWork.id, id)));
  }
}
