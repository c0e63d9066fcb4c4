import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";

import { inProject } from "../project.ts";
import { overlayVars, type Vars } from "./vars.ts";

/** wrangler.toml, as far as this machine is concerned. */
export type WorkerDescription = {
  name: string;
  vars: Vars;
  crons: string[];
  /** All bindings, as Miniflare takes them. */
  options: Record<string, unknown>;
};

export function readWranglerToml(env: NodeJS.ProcessEnv): WorkerDescription {
  const config = unstable_readConfig({ config: inProject("wrangler.toml") });
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  return {
    name: config.name ?? "edgeforge",
    vars: overlayVars({ ...(options.bindings ?? {}) }, config.secrets?.required ?? [], env),
    crons: config.triggers.crons ?? [],
    options: {
      ...options,
      // On disk they are found by id. The ids of an account may change; the name of a binding stays.
      d1Databases: named(config.d1_databases),
      kvNamespaces: named(config.kv_namespaces),
    },
  };
}

function named(bindings: { binding: string }[]): Record<string, string> {
  return Object.fromEntries(bindings.map(({ binding }) => [binding, binding]));
}
