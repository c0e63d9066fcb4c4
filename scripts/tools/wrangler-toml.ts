import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";

import { parse } from "smol-toml";
import { z } from "zod";

import { inProject } from "../project.ts";
import { reasonOf, Refusal } from "../refusal.ts";

const Producer = z.strictObject({ binding: z.string(), queue: z.string() });

const Consumer = z.strictObject({
  queue: z.string(),
  max_batch_size: z.number().optional(),
  max_batch_timeout: z.number().optional(),
  max_retries: z.number().optional(),
  max_concurrency: z.number().optional(),
  dead_letter_queue: z.string().optional(),
  retry_delay: z.number().optional(),
});

/** The fields of wrangler.toml that the scripts need, under their own names. */
export const WranglerToml = z.object({
  name: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  triggers: z.object({ crons: z.array(z.string()).default([]) }),
  vars: z.record(z.string(), z.unknown()),
  assets: z.strictObject({
    directory: z.string(),
    binding: z.string(),
    run_worker_first: z.literal(true),
  }),
  d1_databases: z.array(
    z.object({ binding: z.string(), database_name: z.string(), database_id: z.string() }),
  ),
  kv_namespaces: z.array(z.object({ binding: z.string() })).default([]),
  r2_buckets: z.array(z.object({ binding: z.string(), bucket_name: z.string() })),
  durable_objects: z.object({
    bindings: z.array(z.strictObject({ name: z.string(), class_name: z.string() })),
  }),
  migrations: z.array(
    z.strictObject({ tag: z.string(), new_sqlite_classes: z.array(z.string()).default([]) }),
  ),
  queues: z.object({ producers: z.array(Producer), consumers: z.array(Consumer) }),
  ratelimits: z.array(
    z.strictObject({
      name: z.string(),
      namespace_id: z.string(),
      simple: z.strictObject({ limit: z.number(), period: z.number() }),
    }),
  ),
  send_email: z.array(z.looseObject({ name: z.string() })).default([]),
});

/**
 * Reads wrangler.toml and .dev.vars as Wrangler does, which takes a second and 250 MB to load:
 * test/scripts/tools/wrangler-toml.test.ts compares both. Kinds of bindings that the Worker does
 * not use are left out.
 *
 * @throws Refusal with the name of a field that cannot be read.
 */
export function readWranglerToml(path = inProject("wrangler.toml")) {
  const toml = parseToml(readFileSync(path, "utf8"));
  const devVars = join(dirname(path), ".dev.vars");
  const given = existsSync(devVars) ? parseEnv(readFileSync(devVars, "utf8")) : {};
  return {
    toml,
    /** The settings, including those of .dev.vars. */
    vars: { ...toml.vars, ...given },
    /** All other bindings, in Miniflare's format. */
    miniflare: toMiniflare(toml, dirname(path)),
  };
}

function parseToml(text: string): z.infer<typeof WranglerToml> {
  try {
    return WranglerToml.parse(parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : reasonOf(error);
    throw new Refusal(`wrangler.toml cannot be read: ${reason}`);
  }
}

function toMiniflare(toml: z.infer<typeof WranglerToml>, directory: string) {
  const { compatibility_date, compatibility_flags, assets, queues } = toml;
  const sqliteClasses = new Set(toml.migrations.flatMap((each) => each.new_sqlite_classes));
  return {
    rootPath: directory,
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    cronTriggers: toml.triggers.crons,
    kvNamespaces: byName(toml.kv_namespaces, ({ binding }) => [binding, { id: binding }]),
    d1Databases: byName(toml.d1_databases, ({ binding, database_id: id }) => [binding, { id }]),
    r2Buckets: byName(toml.r2_buckets, ({ binding, bucket_name: id }) => [binding, { id }]),
    queueProducers: byName(queues.producers, ({ binding, queue: queueName }) => [
      binding,
      { queueName },
    ]),
    queueConsumers: byName(queues.consumers, (each) => [
      each.queue,
      withoutAbsent({
        maxBatchSize: each.max_batch_size,
        maxBatchTimeout: each.max_batch_timeout,
        maxRetries: each.max_retries,
        deadLetterQueue: each.dead_letter_queue,
        retryDelay: each.retry_delay,
      }),
    ]),
    durableObjects: byName(toml.durable_objects.bindings, ({ name, class_name: className }) => [
      name,
      { className, useSQLite: sqliteClasses.has(className) },
    ]),
    ratelimits: byName(toml.ratelimits, (each) => [each.name, { type: "ratelimit", ...each }]),
    email: { send_email: toml.send_email },
    assets: {
      ...assets,
      directory: resolve(directory, assets.directory),
      routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: true },
      assetConfig: { compatibility_date, compatibility_flags },
    },
  };
}

const byName = <Each, Value>(
  list: Each[],
  toEntry: (each: Each) => [name: string, value: Value],
): Record<string, Value> => Object.fromEntries(list.map(toEntry));

/** Miniflare refuses options with absent values. */
const withoutAbsent = (options: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
