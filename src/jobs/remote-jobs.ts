import type { Ctx } from "../context.ts";
import { syncPushMirror } from "../domain/exchange/mirrors/push/sync-push-mirror.ts";
import { advanceImport } from "../domain/exchange/imports/advance-import.ts";
import { syncParts } from "../domain/exchange/imports/sync-parts.ts";
import { syncPullMirror } from "../domain/exchange/mirrors/pull/sync-pull-mirror.ts";
import type { RemoteJob } from "../storage/remote-jobs.ts";

type Handlers = {
  [K in RemoteJob["kind"]]: (ctx: Ctx, job: Extract<RemoteJob, { kind: K }>) => Promise<unknown>;
};

/** The handler of each kind of job. Each may be repeated, and does nothing if nothing is due. */
const HANDLERS: Handlers = {
  import: (ctx, { importId }) => advanceImport(ctx, importId),
  "pull-mirror": async (ctx, { repoId }) => {
    const synced = await syncPullMirror(ctx, repoId);
    if (synced) await syncParts(ctx, synced.repo, synced.mirror);
  },
  "push-mirror": (ctx, { mirrorId }) => syncPushMirror(ctx, mirrorId),
};

/** Does the work of a message about a mirror or an import. */
export async function runRemoteJob(ctx: Ctx, job: RemoteJob): Promise<void> {
  const handler = HANDLERS[job.kind] as (ctx: Ctx, job: RemoteJob) => Promise<unknown>;
  await handler(ctx, job);
  await ctx.eventQueues.dispatchRecorded();
}

/** Whether a message is about a mirror or an import. */
export const isRemoteJob = (body: object): body is RemoteJob =>
  "kind" in body &&
  (body.kind === "pull-mirror" || body.kind === "push-mirror" || body.kind === "import");
