import { z } from "zod";

import { localBuckets } from "./bucket/bindings.ts";
import { localDatabases } from "./database/bindings.ts";
import { type Consumers, localQueues } from "./queue/bindings.ts";
import { readWranglerToml } from "../tools/wrangler-toml.ts";
import { STORED_SECRETS } from "./stored-secrets.ts";
import { overlayVars, type Vars } from "./vars.ts";

/** The Worker's configuration on this machine. */
export type WorkerDescription = {
  name: string;
  vars: Vars;
  /** The names of all variables that the Worker is given: `vars`, and what a start adds to them. */
  variables: string[];
  crons: string[];
  /** All other bindings, in Miniflare's format. */
  options: Record<string, unknown>;
};

/**
 * Settings that differ from those on Cloudflare: webhook receivers may run on the same machine, and
 * no proxy is known that states the address of a client.
 */
export const LOCAL_VARS: Vars = {
  ALLOWED_HOST_LIST: "external, loopback",
  CLIENT_ADDRESS_HEADER: "",
};

/**
 * Messages in a batch of queues whose messages have an invocation each on Cloudflare, which runs
 * many of these at a time. The local runtime handles one batch after the other, so that each would
 * wait for all before it; it has no limits to share.
 */
const LOCAL_BATCH_SIZES: Readonly<Record<string, number>> = { "edgeforge-remotes": 10 };

/** Variables that a start adds: secrets that it makes, and the addresses at which it listens. */
const ADDED_VARIABLES = [...STORED_SECRETS, "LISTEN_URLS"];

/**
 * What serves a binding: the service's own, or Miniflare's simulator, which benchmarks and tests
 * compare with it.
 */
export type BindingServer = "local" | "simulator";

/** What serves the interfaces of D1, of R2 and of queues. */
export type BindingServers = {
  database?: BindingServer;
  bucket?: BindingServer;
  queues?: BindingServer;
};

export async function describeWorker(
  env: NodeJS.ProcessEnv,
  { database = "local", bucket = "local", queues = "local" }: BindingServers = {},
): Promise<WorkerDescription> {
  const { toml, vars, miniflare } = readWranglerToml();
  const {
    d1Databases: _,
    r2Buckets: __,
    queueProducers,
    queueConsumers: configuredConsumers,
    ...bindings
  } = miniflare;
  const queueConsumers = widen(configuredConsumers);
  const databases = toml.d1_databases.map(({ binding }) => binding);
  const buckets = Object.fromEntries(
    toml.r2_buckets.map(({ binding, bucket_name: name }) => [binding, name]),
  );
  const queueNames = Object.fromEntries(
    toml.queues.producers.map(({ binding, queue }) => [binding, queue]),
  );
  const all = overlayVars({ ...LOCAL_VARS, ...vars }, env);
  return {
    name: toml.name,
    vars: all,
    variables: [...new Set([...Object.keys(all), ...ADDED_VARIABLES])].toSorted(),
    crons: toml.triggers.crons,
    options: {
      ...bindings,
      unsafeBindings: [
        ...(database === "local" ? localDatabases(databases) : []),
        ...(bucket === "local" ? localBuckets(buckets) : []),
        ...(queues === "local" ? localQueues(queueNames, queueConsumers) : []),
      ],
      // The id determines the path on disk. Account ids may change; the name of a binding does not.
      ...(database === "simulator" && { d1Databases: named(toml.d1_databases) }),
      ...(bucket === "simulator" && { r2Buckets: buckets }),
      ...(queues === "simulator" && { queueProducers, queueConsumers }),
      kvNamespaces: named(toml.kv_namespaces),
    },
  };
}

function named(bindings: { binding: string }[]): Record<string, string> {
  return Object.fromEntries(bindings.map(({ binding }) => [binding, binding]));
}

const widen = (consumers: unknown): Consumers =>
  Object.fromEntries(
    Object.entries(z.record(z.string(), z.looseObject({})).parse(consumers)).map(
      ([queue, consumer]) => {
        const maxBatchSize = LOCAL_BATCH_SIZES[queue];
        return [queue, { ...consumer, ...(maxBatchSize !== undefined && { maxBatchSize }) }];
      },
    ),
  );
