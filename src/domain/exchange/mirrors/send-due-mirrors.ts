import { and, asc, lte, lt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { pullMirrors, pushMirrors } from "../../../db/schema/index.ts";

/**
 * Mirrors of each kind that one run queues; the next run goes on, since those that ran are no
 * longer due.
 */
const MIRRORS_MAX = 1000;

/**
 * Queues the mirrors that are due and that no job works on, those first that have waited longest.
 */
export async function sendDueMirrors({ db, config, now, remoteJobs }: Ctx): Promise<void> {
  if (!config.mirrors.isOn) return;
  const { pulls, pushes } = await batch(db, {
    pulls: db
      .select({ repoId: pullMirrors.repoId })
      .from(pullMirrors)
      .where(and(lte(pullMirrors.dueAt, now), lt(pullMirrors.leasedUntil, now)))
      .orderBy(asc(pullMirrors.dueAt))
      .limit(MIRRORS_MAX),
    pushes: db
      .select({ id: pushMirrors.id })
      .from(pushMirrors)
      .where(and(lte(pushMirrors.dueAt, now), lt(pushMirrors.leasedUntil, now)))
      .orderBy(asc(pushMirrors.dueAt))
      .limit(MIRRORS_MAX),
  });
  await remoteJobs.send([
    ...pulls.map(({ repoId }) => ({ kind: "pull-mirror", repoId }) as const),
    ...pushes.map(({ id }) => ({ kind: "push-mirror", mirrorId: id }) as const),
  ]);
}
