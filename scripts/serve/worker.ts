import { readWranglerToml } from "../tools/wrangler-toml.ts";
import { overlayVars, type Vars } from "./vars.ts";

/** The Worker as this machine runs it. */
export type WorkerDescription = {
  name: string;
  vars: Vars;
  crons: string[];
  /** All other bindings, as Miniflare takes them. */
  options: Record<string, unknown>;
};

/** Secrets that a service does well without: wrangler.toml can name only those it must have. */
const OPTIONAL_SECRETS = ["SIGNING_KEY", "SEALING_KEYS"];

/** Settings that on one machine are others than on Cloudflare: whoever receives webhooks may run beside it. */
const LOCAL_VARS: Vars = { ALLOWED_HOST_LIST: "external, loopback" };

export function describeWorker(env: NodeJS.ProcessEnv): WorkerDescription {
  const { toml, vars, miniflare } = readWranglerToml();
  return {
    name: toml.name,
    vars: overlayVars(
      { ...LOCAL_VARS, ...vars },
      [...(toml.secrets?.required ?? []), ...OPTIONAL_SECRETS],
      env,
    ),
    crons: toml.triggers.crons,
    options: {
      ...miniflare,
      // On disk they are found by id. The ids of an account may change; the name of a binding stays.
      d1Databases: named(toml.d1_databases),
      kvNamespaces: named(toml.kv_namespaces),
    },
  };
}

function named(bindings: { binding: string }[]): Record<string, string> {
  return Object.fromEntries(bindings.map(({ binding }) => [binding, binding]));
}
