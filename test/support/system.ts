import { env } from "cloudflare:workers";

import { ANONYMOUS } from "../../src/auth/actor.ts";
import { parseConfig } from "../../src/config.ts";
import type { Ctx } from "../../src/context.ts";
import { openDatabase } from "../../src/db/db.ts";
import type { Repository } from "../../src/db/schema/index.ts";
import { inDatabase } from "../../src/domain/shards/in-database.ts";
import { everywhere } from "../../src/domain/shards/list-from-all.ts";
import { IDS_PER_RANGE } from "../../src/domain/shards/id-ranges.ts";
import { USER_AGENT } from "../../src/domain/version.ts";
import { EventQueues } from "../../src/storage/event-queues.ts";
import { RemoteJobs } from "../../src/storage/remote-jobs.ts";
import { type MailBindings, Mailer } from "../../src/outgoing/mailer.ts";
import { openOutgoing } from "../../src/outgoing/open-outgoing.ts";
import { edgeCache } from "../../src/storage/edge-cache.ts";
import { shardBindings } from "./shards/shard-bindings.ts";
import { ShardDatabases } from "../../src/storage/shard-databases.ts";
import { GitStorage } from "../../src/storage/storage.ts";

/** Settings for all tests, from vitest.config.ts. */
export const TEST_SETTINGS = {
  ALLOWED_HOST_LIST: env.ALLOWED_HOST_LIST,
  DNS_RESOLVER_URL: env.DNS_RESOLVER_URL,
  WEBHOOKS_MAX: env.WEBHOOKS_MAX,
};

/**
 * The context of jobs, on the bindings of the Worker.
 *
 * @param bindings Bindings that replace the Worker's own.
 * @param now In milliseconds.
 * @param settings Variables of the configuration.
 */
export function systemCtx(
  bindings: Partial<Env> & MailBindings & { EVENTS_OUT?: Queue<object> },
  now: number,
  settings: Record<string, string> = {},
): Ctx {
  const all = { ...env, ...bindings };
  const config = parseConfig({ ...TEST_SETTINGS, ...settings });
  const directory = openDatabase(all.DB.withSession("first-primary"));
  // Without EDGEFORGE_TEST_SHARDS only those that a test names.
  const isOther = bindings.DB !== undefined && Object.values(env).includes(bindings.DB);
  const own = isOther ? {} : shardBindings();
  const shards = new ShardDatabases({ SHARD_0: env.SHARD_0, ...own, ...bindings }, directory);
  return {
    config,
    db: directory,
    directory,
    git: new GitStorage(all.PACKS, all.REPOSITORY, all.STORAGE_JOBS, edgeCache),
    eventQueues: new EventQueues(all.EVENT_JOBS, all.DELIVERY_JOBS, bindings.EVENTS_OUT),
    openShard: (number) => shards.open(number),
    openShards: () => shards.openAll(),
    remoteJobs: new RemoteJobs(all.REMOTE_JOBS),
    mailer: new Mailer(bindings),
    outgoing: openOutgoing(config, "", USER_AGENT),
    actor: ANONYMOUS,
    rootUrl: config.publicUrl,
    publicUrl: config.publicUrl,
    client: { address: undefined, requestId: "" },
    now,
    // As in the runtime, a failure counts as handled from the start.
    defer: (work) => void work.catch(() => undefined),
  };
}

/** The same for work about what a database has: that of a repository, or of a row with an id. */
export const systemCtxOf = (
  of: Pick<Repository, "shard"> | number,
  bindings: Parameters<typeof systemCtx>[0] = {},
  now: number = Date.now(),
  settings: Record<string, string> = {},
): Ctx =>
  inDatabase(
    systemCtx(bindings, now, settings),
    typeof of === "number" ? Math.max(0, Math.floor(of / IDS_PER_RANGE)) : of.shard,
  );

/** Runs a task of the schedule for each database. */
export async function runInEach(ctx: Ctx, run: (ctx: Ctx) => Promise<unknown>): Promise<void> {
  for (const each of everywhere(ctx)) await run(each);
}
