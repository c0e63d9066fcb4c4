import { env } from "cloudflare:workers";

import { ANONYMOUS } from "../../src/auth/actor.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import type { Ctx } from "../../src/context.ts";
import { openDatabase } from "../../src/db/db.ts";
import { USER_AGENT } from "../../src/domain/version.ts";
import { EventQueues } from "../../src/storage/event-queues.ts";
import { RemoteJobs } from "../../src/storage/remote-jobs.ts";
import { type MailBindings, Mailer } from "../../src/outgoing/mailer.ts";
import { openOutgoing } from "../../src/outgoing/open-outgoing.ts";
import { edgeCache } from "../../src/storage/edge-cache.ts";
import { GitStorage } from "../../src/storage/storage.ts";

/** Settings for all tests, from vitest.config.ts. */
export const TEST_SETTINGS = {
  ALLOWED_HOST_LIST: env.ALLOWED_HOST_LIST,
  DNS_RESOLVER_URL: env.DNS_RESOLVER_URL,
  WEBHOOKS_MAX: env.WEBHOOKS_MAX,
};

/** Parsed configurations by their variables: parsing takes longer than most jobs. */
const configs = new Map<string, Config>();
function configOf(settings: Record<string, string>): Config {
  const key = JSON.stringify(settings);
  const config = configs.get(key) ?? parseConfig({ ...TEST_SETTINGS, ...settings });
  configs.set(key, config);
  return config;
}

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
  const config = configOf(settings);
  return {
    config,
    db: openDatabase(all.DB.withSession("first-primary")),
    git: new GitStorage(all.PACKS, all.REPOSITORY, all.STORAGE_JOBS, edgeCache),
    eventQueues: new EventQueues(all.EVENT_JOBS, all.DELIVERY_JOBS, bindings.EVENTS_OUT),
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
