import { readWranglerToml } from "../tools/wrangler-toml.ts";
import { overlayVars, type Vars } from "./vars.ts";

/** The Worker's configuration on this machine. */
export type WorkerDescription = {
  name: string;
  vars: Vars;
  crons: string[];
  /** All other bindings, in Miniflare's format. */
  options: Record<string, unknown>;
};

/**
 * Settings that differ from those on Cloudflare: webhook receivers may run on the same machine, and no proxy is known
 * that states the address of a client.
 */
export const LOCAL_VARS: Vars = {
  ALLOWED_HOST_LIST: "external, loopback",
  CLIENT_ADDRESS_HEADER: "",
};

export function describeWorker(env: NodeJS.ProcessEnv): WorkerDescription {
  const { toml, vars, miniflare } = readWranglerToml();
  return {
    name: toml.name,
    vars: overlayVars({ ...LOCAL_VARS, ...vars }, env),
    crons: toml.triggers.crons,
    options: {
      ...miniflare,
      // The id determines the path on disk. Account ids may change; the name of a binding does not.
      d1Databases: named(toml.d1_databases),
      kvNamespaces: named(toml.kv_namespaces),
    },
  };
}

function named(bindings: { binding: string }[]): Record<string, string> {
  return Object.fromEntries(bindings.map(({ binding }) => [binding, binding]));
}
