import { resolve } from "node:path";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";

/** Settings of the local service; the settings of the forge belong to the Worker (src/config.ts). */
export type Settings = {
  host: string;
  /** 0 lets the system choose a port. */
  port: number;
  /** Absolute path of the state directory. */
  data: string;
  administrator: { name: string; password: string | undefined; email: string };
};

type Environment = Record<string, string | undefined>;

/** @throws Refusal with the name of the variable and its allowed values. */
export function parseSettings(env: Environment): Settings {
  const name = env["EDGEFORGE_ADMIN_USER"] || "root";
  return {
    host: env["EDGEFORGE_HOST"] || "127.0.0.1",
    port: parsePort(env["EDGEFORGE_PORT"] || "8787"),
    data: env["EDGEFORGE_DATA"] ? resolve(env["EDGEFORGE_DATA"]) : inProject(".data"),
    administrator: {
      name,
      password: env["EDGEFORGE_ADMIN_PASSWORD"] || undefined,
      email: env["EDGEFORGE_ADMIN_EMAIL"] || `${name}@edgeforge.localhost`,
    },
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Refusal(`EDGEFORGE_PORT must be a whole number from 0 to 65535, not "${text}"`);
}
