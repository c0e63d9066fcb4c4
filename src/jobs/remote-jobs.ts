import type { Ctx } from "../context.ts";
import type { RemoteJob } from "../storage/remote-jobs.ts";

type Handlers = {
  [K in RemoteJob["kind"]]: (ctx: Ctx, job: Extract<RemoteJob, { kind: K }>) => Promise<unknown>;
};

/**
 * The handler of each kind of job. Each may be repeated, and does nothing if nothing is due. Their
 * code is loaded on first use.
 */
const HANDLERS: Handlers = {
  import: async (ctx, { importId }) => {
    const { advanceImport } = await import("../domain/exchange/imports/advance-import.ts");
    await advanceImport(ctx, importId);
  },
  "pull-mirror": async (ctx, { repoId }) => {
    const { syncPullMirror } = await import("../domain/exchange/mirrors/pull/sync-pull-mirror.ts");
    const synced = await syncPullMirror(ctx, repoId);
    if (!synced) return;
    const { syncParts } = await import("../domain/exchange/imports/sync-parts.ts");
    await syncParts(ctx, synced.repo, synced.mirror);
  },
  "push-mirror": async (ctx, { mirrorId }) => {
    const { syncPushMirror } = await import("../domain/exchange/mirrors/push/sync-push-mirror.ts");
    await syncPushMirror(ctx, mirrorId);
  },
  "end-repositories": async (ctx) => {
    const { endRepositories } = await import("../domain/operations/expiries/end-repositories.ts");
    await endRepositories(ctx);
  },
};

/** Does the work of a message about a mirror, an import or ends of repositories. */
export async function runRemoteJob(ctx: Ctx, job: RemoteJob): Promise<void> {
  const handler = HANDLERS[job.kind] as (ctx: Ctx, job: RemoteJob) => Promise<unknown>;
  await handler(ctx, job);
  await ctx.eventQueues.dispatchRecorded();
}

/** Whether a message is about a mirror, an import or ends of repositories. */
export const isRemoteJob = (body: object): body is RemoteJob =>
  "kind" in body && typeof body.kind === "string" && Object.hasOwn(HANDLERS, body.kind);
