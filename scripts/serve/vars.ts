import { pathToFileURL } from "node:url";

import { inProject } from "../project.ts";
import { reasonOf, Refusal } from "../refusal.ts";

export type Vars = Record<string, unknown>;

type WorkerConfig = { parseConfig: (vars: Vars) => unknown };

/**
 * The Worker's settings on this machine: those of wrangler.toml and .dev.vars, each of which an environment
 * variable of the same name replaces.
 *
 * @param secrets Names without a value in wrangler.toml, which the environment may give.
 */
export function overlayVars(vars: Vars, secrets: string[], env: NodeJS.ProcessEnv): Vars {
  const given = [...Object.keys(vars), ...secrets]
    .map((name) => [name, env[name]] as const)
    .filter(([, value]) => value !== undefined);
  return { ...vars, ...Object.fromEntries(given) };
}

/**
 * Asks the Worker's own parser, so that a mistake stops the start instead of each request.
 *
 * It is imported by address: the Worker's rooms are type-checked for Workers, the scripts for Node.
 *
 * @throws Refusal naming the setting and what it allows.
 */
export async function refuseInvalidVars(vars: Vars): Promise<void> {
  const address = pathToFileURL(inProject("src/config.ts")).href;
  const config: WorkerConfig = await import(address);
  try {
    config.parseConfig(vars);
  } catch (error) {
    throw new Refusal(`invalid setting: ${reasonOf(error)}`);
  }
}
