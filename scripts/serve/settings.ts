import { resolve } from "node:path";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";
import { describeSetting, variableNames, type Vars } from "./vars.ts";

/**
 * Settings of the local service; the settings of the forge belong to the Worker (src/config.ts).
 */
export type Settings = {
  host: string;
  /** 0 lets the system choose a port. */
  port: number;
  /** How many processes answer requests. */
  processes: number;
  /** Absolute path of the state directory. */
  data: string;
  administrator: { name: string; password: string | undefined; email: string };
};

type Environment = Record<string, string | undefined>;

const PREFIX = "EDGEFORGE_";

/** The variables of `npm start` itself, with their defaults. An empty value is the default, too. */
const DEFAULTS = {
  EDGEFORGE_HOST: "127.0.0.1",
  EDGEFORGE_PORT: "8787",
  EDGEFORGE_DATA: ".data",
  EDGEFORGE_PROCESSES: "1",
  EDGEFORGE_ADMIN_USER: "root",
  EDGEFORGE_ADMIN_PASSWORD: "",
  EDGEFORGE_ADMIN_EMAIL: "",
} as const;

const SECRET = "EDGEFORGE_ADMIN_PASSWORD";

/**
 * @param vars Variables of the Worker. Those that create the first administrator on Cloudflare name
 *   the same account here, unless the variables of `npm start` do.
 * @throws Refusal with the name of the variable and its allowed values, or with an unknown name.
 */
export function parseSettings(env: Environment, vars: Vars = {}): Settings {
  refuseUnknownNames(env);
  const name =
    env["EDGEFORGE_ADMIN_USER"] ||
    textOf(vars, "FIRST_ADMIN_USER") ||
    DEFAULTS.EDGEFORGE_ADMIN_USER;
  const password = env["EDGEFORGE_ADMIN_PASSWORD"] || textOf(vars, "FIRST_ADMIN_PASSWORD");
  const email = env["EDGEFORGE_ADMIN_EMAIL"] || textOf(vars, "FIRST_ADMIN_EMAIL");
  return {
    host: env["EDGEFORGE_HOST"] || DEFAULTS.EDGEFORGE_HOST,
    port: parsePort(env["EDGEFORGE_PORT"] || DEFAULTS.EDGEFORGE_PORT),
    processes: parseProcesses(env["EDGEFORGE_PROCESSES"] || DEFAULTS.EDGEFORGE_PROCESSES),
    data: env["EDGEFORGE_DATA"]
      ? resolve(env["EDGEFORGE_DATA"])
      : inProject(DEFAULTS.EDGEFORGE_DATA),
    administrator: {
      name,
      password: password || undefined,
      email: email || `${name}@edgeforge.localhost`,
    },
  };
}

/**
 * Describes each variable of `npm start` whose value differs from the default, in one line each.
 */
export function describeSettings(env: Environment): string[] {
  return Object.entries(DEFAULTS)
    .filter(([name, value]) => (env[name] || value) !== value)
    .map(([name]) => describeSetting(name, name === SECRET ? undefined : env[name]));
}

/**
 * A misspelt name would otherwise leave its setting at the default, which may be an open service.
 */
function refuseUnknownNames(env: Environment): void {
  const unknown = Object.keys(env).find((name) => name.startsWith(PREFIX) && !(name in DEFAULTS));
  if (unknown === undefined) return;
  const bare = unknown.slice(PREFIX.length);
  const hint = variableNames.includes(bare)
    ? `the setting's name is ${bare}`
    : `names that begin with ${PREFIX} are ${Object.keys(DEFAULTS).join(", ")}`;
  throw new Refusal(`${unknown} is no setting: ${hint}`);
}

function textOf(vars: Vars, name: string): string {
  const value = vars[name];
  return typeof value === "string" ? value : "";
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Refusal(`EDGEFORGE_PORT must be a whole number from 0 to 65535, not "${text}"`);
}

const PROCESSES_MAX = 64;

function parseProcesses(text: string): number {
  const processes = Number(text);
  if (!/^\d+$/.test(text) || processes < 1 || processes > PROCESSES_MAX) {
    throw new Refusal(
      `EDGEFORGE_PROCESSES must be a whole number from 1 to ${PROCESSES_MAX}, not "${text}"`,
    );
  }
  if (processes > 1 && process.platform !== "linux") {
    // Elsewhere, the system does not spread connections over the processes that share a port.
    throw new Refusal("EDGEFORGE_PROCESSES can be more than 1 on Linux only");
  }
  return processes;
}
