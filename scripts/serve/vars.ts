import { pathToFileURL } from "node:url";

import { inProject } from "../project.ts";
import { reasonOf, Refusal } from "../refusal.ts";

export type Vars = Record<string, unknown>;

type WorkerConfig = { parseConfig: (vars: Vars) => unknown };

/**
 * The Worker's settings on this machine: those of wrangler.toml and .dev.vars, each overridden by an environment
 * variable of the same name.
 *
 * @param secrets Names without a value in wrangler.toml, whose values the environment may provide.
 */
export function overlayVars(vars: Vars, secrets: string[], env: NodeJS.ProcessEnv): Vars {
  const overrides = [...Object.keys(vars), ...secrets]
    .map((name) => [name, env[name]] as const)
    .filter(([, value]) => value !== undefined);
  return { ...vars, ...Object.fromEntries(overrides) };
}

/**
 * Validates the settings with the Worker's own parser, so that a mistake stops the start instead of each request.
 *
 * It is imported by URL: the Worker's sources are type-checked for Workers, the scripts for Node.
 *
 * @throws Refusal with the name of the setting and its allowed values.
 */
export async function refuseInvalidVars(vars: Vars): Promise<void> {
  const url = pathToFileURL(inProject("src/config.ts")).href;
  const config: WorkerConfig = await import(url);
  try {
    config.parseConfig(vars);
  } catch (error) {
    throw new Refusal(`invalid setting: ${reasonOf(error)}`);
  }
}
