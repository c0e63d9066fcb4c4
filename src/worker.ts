import { WorkerEntrypoint } from "cloudflare:workers";
import type { Hono } from "hono";

import { ANONYMOUS } from "./auth/actor.ts";
import { createApp } from "./app.ts";
import { type Config, parseConfig } from "./config.ts";
import type { Ctx } from "./context.ts";
import { openDatabase } from "./db/db.ts";
import { type D1Usage, meterD1 } from "./db/meter.ts";
import { createFirstAdministrator } from "./domain/accounts/create-first-administrator.ts";
import { USER_AGENT } from "./domain/version.ts";
import { EventQueues } from "./storage/event-queues.ts";
import { handleBatch, handleSchedule, type Job } from "./jobs/index.ts";
import { openOutgoing } from "./outgoing/open-outgoing.ts";
import { log } from "./lib/log.ts";
import { edgeCache } from "./storage/edge-cache.ts";
import { GitStorage } from "./storage/storage.ts";

export { RepositoryObject } from "./storage/repository-object.ts";

type App = Pick<Hono, "fetch">;
let app: App | undefined;

export default {
  fetch(request, env, execution) {
    // Once an isolate: the configuration can't change while it lives.
    app ??= createApp(parseConfig(env)) as App;
    return app.fetch(request, env, execution);
  },

  async queue(batch, env, execution) {
    const config = parseConfig(env);
    const startedAt = Date.now();
    const usages: D1Usage[] = [];
    const deferred: Promise<unknown>[] = [];
    const watched = {
      waitUntil: (work: Promise<unknown>) => {
        deferred.push(work);
        execution.waitUntil(work);
      },
    };
    await handleBatch(batch, () => {
      const { d1, usage } = meterD1(openSession(env), { rows: config.logsD1Rows });
      usages.push(usage);
      return { ...openSystemCtx(env, config, watched), db: openDatabase(d1) };
    });
    execution.waitUntil(ended(deferred).then(() => logJobs(batch, usages, Date.now() - startedAt)));
  },

  async scheduled({ cron }, env, execution) {
    await handleSchedule(cron, openSystemCtx(env, parseConfig(env), execution));
  },
} satisfies ExportedHandler<Env, Job>;

/** What whoever runs the service may ask of it; no address on the network leads here. */
export class Setup extends WorkerEntrypoint<Env> {
  /** Creates an administrator if there is none yet. */
  createFirstAdministrator(account: {
    name: string;
    password: string;
    email: string;
  }): Promise<{ created: boolean }> {
    const ctx = openSystemCtx(this.env, parseConfig(this.env), this.ctx);
    return createFirstAdministrator(ctx, account);
  }
}

/** Waits for what was deferred, and for what that deferred in turn. */
async function ended(deferred: readonly Promise<unknown>[]): Promise<void> {
  for (let seen = -1; seen < deferred.length;) {
    seen = deferred.length;
    await Promise.allSettled(deferred);
  }
}

/** One line for a batch of messages, as there is one for a request. */
function logJobs(
  { queue, messages }: Pick<MessageBatch, "queue" | "messages">,
  usages: readonly D1Usage[],
  durationMs: number,
): void {
  const sum = (of: (usage: D1Usage) => number) => usages.reduce((all, one) => all + of(one), 0);
  log("jobs", {
    queue,
    messages: messages.length,
    durationMs,
    d1Calls: sum(({ calls }) => calls),
    d1RowsRead: sum(({ rowsRead }) => rowsRead),
    d1RowsWritten: sum(({ rowsWritten }) => rowsWritten),
  });
}

/** Reads what was written last. */
const openSession = (env: Env): D1DatabaseSession => env.DB.withSession("first-primary");

/** What the service itself needs to act when nobody called. */
function openSystemCtx(
  env: Env,
  config: Config,
  execution: Pick<ExecutionContext, "waitUntil">,
): Ctx {
  return {
    config,
    db: openDatabase(openSession(env)),
    git: new GitStorage(env.PACKS, env.REPOSITORY, env.STORAGE_JOBS, edgeCache),
    eventQueues: new EventQueues(env.EVENT_JOBS, env.DELIVERY_JOBS),
    outgoing: openOutgoing(config, config.rootUrl, USER_AGENT),
    actor: ANONYMOUS,
    rootUrl: config.rootUrl,
    now: Date.now(),
    defer: (work) => execution.waitUntil(work),
  };
}
