import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { z } from "zod";

import { inProject } from "../project.ts";
import "./quiet.ts";

const Queues = z.object({
  producers: z.array(z.object({ binding: z.string(), queue: z.string() })).default([]),
  consumers: z
    .array(z.object({ queue: z.string(), dead_letter_queue: z.string().optional() }))
    .default([]),
});

/** The fields of wrangler.toml that the scripts need, under their own names. */
export const WranglerToml = z.object({
  name: z.string(),
  triggers: z.object({ crons: z.array(z.string()).default([]) }),
  d1_databases: z.array(z.object({ binding: z.string(), database_name: z.string() })),
  kv_namespaces: z.array(z.object({ binding: z.string() })),
  r2_buckets: z.array(z.object({ binding: z.string(), bucket_name: z.string() })),
  queues: Queues,
});

export type ReadToml = ReturnType<typeof readWranglerToml>;

export function readWranglerToml() {
  const config = unstable_readConfig({ config: inProject("wrangler.toml") });
  const {
    modulesRules: _,
    bindings,
    ...miniflare
  } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  return {
    toml: WranglerToml.parse(config),
    /** The settings, including those of .dev.vars. */
    vars: z.record(z.string(), z.unknown()).parse(bindings ?? {}),
    /** All other bindings, in Miniflare's format. */
    miniflare: { ...miniflare },
  };
}
