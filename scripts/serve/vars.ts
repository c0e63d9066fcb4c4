import { isDeepStrictEqual } from "node:util";
import { pathToFileURL } from "node:url";

import { inProject } from "../project.ts";
import { reasonOf, Refusal } from "../refusal.ts";

export type Vars = Record<string, unknown>;

/** The exports of src/config.ts that this module uses. */
type WorkerConfig = {
  VARIABLE_NAMES: readonly string[];
  SECRET_NAMES: ReadonlySet<string>;
  parseVariables: (vars: Vars) => Vars;
};

/** Imported by URL: the Worker's sources are type-checked for Workers, the scripts for Node. */
const { VARIABLE_NAMES, SECRET_NAMES, parseVariables }: WorkerConfig = await import(
  pathToFileURL(inProject("src/config.ts")).href
);

/** The name of every variable of the Worker. */
export const variableNames = VARIABLE_NAMES;

/** The Worker's variables, each overridden by an environment variable of the same name. */
export function overlayVars(vars: Vars, env: NodeJS.ProcessEnv): Vars {
  const overrides = variableNames
    .map((name) => [name, env[name]] as const)
    .filter(([, value]) => value !== undefined);
  return { ...vars, ...Object.fromEntries(overrides) };
}

/**
 * Validates the variables with the Worker's own parser, so that a mistake stops the start instead
 * of each request.
 *
 * @throws Refusal with the name of the variable and its allowed values.
 */
export function refuseInvalidVars(vars: Vars): void {
  try {
    parseVariables(vars);
  } catch (error) {
    throw new Refusal(`invalid setting: ${reasonOf(error)}`);
  }
}

/**
 * Describes each variable whose value differs from the default, in one line each.
 *
 * SECURITY: values of secrets are left out, and others are quoted, since they may contain control
 * characters.
 *
 * @param defaults Defaults that differ from the Worker's own.
 */
export function describeVars(vars: Vars, defaults: Vars): string[] {
  const [actual, usual] = [parseVariables(vars), parseVariables(defaults)];
  return variableNames
    .filter((name) => !isDeepStrictEqual(actual[name], usual[name]))
    .map((name) => describeSetting(name, SECRET_NAMES.has(name) ? undefined : vars[name]));
}

/** @param value Undefined if it is a secret. */
export const describeSetting = (name: string, value: unknown): string =>
  `setting: ${name}${value === undefined ? " (a secret)" : `=${JSON.stringify(value)}`}`;
