import { resolve } from "node:path";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";

/** What the service itself is told; the settings of the forge are the Worker's (src/config.ts). */
export type Settings = {
  host: string;
  /** 0 lets the system choose one. */
  port: number;
  /** Absolute path of the directory that holds the state. */
  data: string;
  administrator: { name: string; password: string | undefined; email: string };
};

type Environment = Record<string, string | undefined>;

/** @throws Refusal naming the variable and what it allows. */
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
