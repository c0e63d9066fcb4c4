import { spawn, type StdioOptions } from "node:child_process";

import { projectRoot } from "../project.ts";
import { quietEnvironment } from "./quiet.ts";

export type Outcome = { code: number; output: string };

type Options = { env?: Record<string, string | undefined>; cwd?: string };

/** Runs a tool of node_modules/.bin to its end and returns its output. */
export async function run(tool: string, args: string[], options: Options = {}): Promise<Outcome> {
  const env = { NO_COLOR: "1", FORCE_COLOR: undefined, ...options.env };
  const child = start(tool, args, ["ignore", "pipe", "pipe"], { ...options, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  return { code: await exitOf(child), output };
}

/** Runs a tool to its end, with its output on the terminal. */
export async function show(tool: string, args: string[], options: Options = {}): Promise<number> {
  const child = start(tool, args, "inherit", options);
  // A signal to the terminal's process group reaches the tool too, and this process waits for its
  // exit.
  process.on("SIGINT", ignore);
  const forward = () => child.kill("SIGTERM");
  process.on("SIGTERM", forward);
  try {
    return await exitOf(child);
  } finally {
    process.off("SIGINT", ignore);
    process.off("SIGTERM", forward);
  }
}

function ignore(): void {}

function start(tool: string, args: string[], stdio: StdioOptions, { env, cwd }: Options) {
  return spawn(tool, args, {
    cwd: cwd ?? projectRoot,
    env: { ...quietEnvironment, ...env },
    stdio,
  });
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
