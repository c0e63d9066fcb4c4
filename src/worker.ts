import { WorkerEntrypoint } from "cloudflare:workers";
import type { Hono } from "hono";

import { ANONYMOUS } from "./auth/actor.ts";
import { createApp } from "./app.ts";
import { type Config, parseConfig } from "./config.ts";
import type { Ctx } from "./context.ts";
import { openDatabase } from "./db/db.ts";
import { createFirstAdministrator } from "./domain/people/accounts/create-first-administrator.ts";
import { releaseLeases } from "./domain/operations/leases/release-leases.ts";
import { USER_AGENT } from "./domain/version.ts";
import { EventQueues } from "./storage/event-queues.ts";
import { RemoteJobs } from "./storage/remote-jobs.ts";
import { BatchMeter } from "./jobs/batch-meter.ts";
import { handleBatch, handleSchedule, type Job } from "./jobs/index.ts";
import { inForeground } from "./lib/foreground.ts";
import { nextTask } from "./lib/next-task.ts";
import { beginSlice } from "./lib/time-slice.ts";
import { isolateWrites } from "./lib/writes.ts";
import { type MailBindings, Mailer } from "./outgoing/mailer.ts";
import { openOutgoing } from "./outgoing/open-outgoing.ts";
import { edgeCache } from "./storage/edge-cache.ts";
import { GitStorage } from "./storage/storage.ts";

export { RepositoryObject } from "./storage/repository-object.ts";

type App = Pick<Hono, "fetch">;
let app: App | undefined;
let parsedConfig: Config | undefined;

/** Once per isolate: the configuration can't change while the isolate lives. */
const configOf = (env: Env): Config => (parsedConfig ??= parseConfig(env));

export default {
  fetch(request, env, execution) {
    const service = (app ??= createApp(configOf(env)) as App);
    beginSlice();
    return inForeground(() => service.fetch(request, env, execution));
  },

  async queue(batch, env, execution) {
    const config = configOf(env);
    const meter = new BatchMeter();
    const waitUntil = (work: Promise<unknown>): void => {
      meter.follow(work);
      execution.waitUntil(work);
    };
    await handleBatch(batch, () => {
      const d1 = meter.meter(env.DB.withSession("first-primary"), { rows: config.logsD1Rows });
      return { ...openSystemCtx(env, config, { waitUntil }), db: openDatabase(d1) };
    });
    execution.waitUntil(meter.finish(batch));
  },

  async scheduled({ cron }, env, execution) {
    await handleSchedule(cron, openSystemCtx(env, configOf(env), execution));
  },
} satisfies ExportedHandler<Env, Job>;

/**
 * Methods for the operator of the service. They can be called through a service binding only, not
 * over HTTP.
 */
export class Setup extends WorkerEntrypoint<Env> {
  /** Creates an administrator if there is none yet. */
  createFirstAdministrator(account: {
    name: string;
    password: string;
    email: string;
  }): Promise<{ created: boolean }> {
    const ctx = openSystemCtx(this.env, configOf(this.env), this.ctx);
    return createFirstAdministrator(ctx, account);
  }

  /** Ends the leases of all jobs: only while no process runs jobs of this database. */
  releaseLeases(): Promise<void> {
    return releaseLeases(openSystemCtx(this.env, configOf(this.env), this.ctx));
  }
}

/**
 * Learns of writes of other processes, which `npm start` may run beside this one: its socket is not
 * public.
 */
export class WritesElsewhere extends WorkerEntrypoint<Env> {
  /** @param request Its path is the scope of a write that was made. */
  override async fetch(request: Request): Promise<Response> {
    const scope = new URL(request.url).pathname === "/quiet" ? "quiet" : "all";
    await isolateWrites.follow(scope, () => Promise.resolve());
    return new Response(null, { status: 204 });
  }
}

/** Optional bindings that an operator may add to the ones in wrangler.toml. */
type OperatorBindings = Env & MailBindings & { EVENTS_OUT?: Queue<object> };

/**
 * The context of queue consumers, schedules and setup, which have no caller. Reads start at the D1
 * primary.
 */
function openSystemCtx(
  env: Env,
  config: Config,
  execution: Pick<ExecutionContext, "waitUntil">,
): Ctx {
  const { EVENTS_OUT, ...bindings }: OperatorBindings = env;
  return {
    config,
    db: openDatabase(env.DB.withSession("first-primary")),
    git: new GitStorage(env.PACKS, env.REPOSITORY, env.STORAGE_JOBS, edgeCache, {
      beforeCall: nextTask,
    }),
    eventQueues: new EventQueues(env.EVENT_JOBS, env.DELIVERY_JOBS, EVENTS_OUT),
    remoteJobs: new RemoteJobs(env.REMOTE_JOBS),
    mailer: new Mailer(bindings),
    outgoing: openOutgoing(config, "", USER_AGENT),
    actor: ANONYMOUS,
    rootUrl: config.publicUrl,
    publicUrl: config.publicUrl,
    client: { address: undefined, requestId: "" },
    now: Date.now(),
    defer: (work) => execution.waitUntil(work),
  };
}
