import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import type { Checkout } from "./checkout.ts";

export type Service = {
  url: string;
  pid: number;
  /** The output so far, of both streams. */
  output(): string;
  /** @returns The exit code, or the signal that ended the service. */
  stop(signal?: NodeJS.Signals): Promise<number | string | null>;
};

type Environment = Record<string, string>;

/**
 * Starts the service of a checkout on a free port, and waits until it listens.
 *
 * @param wrapper A program that prepares something and then becomes the one that its arguments
 * name.
 */
export async function startService(
  checkout: Pick<Checkout, "path">,
  env: Environment,
  wrapper: readonly string[] = [],
): Promise<Service> {
  const { child, output } = launch(checkout, env, wrapper);
  const exit = exitOf(child);
  const listening = /^listening on (\S+)$/m;
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", () => listening.test(output()) && resolve());
    child.once("exit", () => reject(new Error(`the service did not start:\n${output()}`)));
  });
  return {
    url: listening.exec(output())?.[1] ?? "",
    pid: child.pid ?? 0,
    output,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return exit;
    },
  };
}

/** Starts a service whose start is expected to fail, and waits for its exit. */
export async function refuseService(
  checkout: Checkout,
  env: Environment,
): Promise<{ code: number | string | null; output: string }> {
  const { child, output } = launch(checkout, env);
  const timer = setTimeout(() => child.kill(), 40_000);
  const code = await exitOf(child);
  clearTimeout(timer);
  return { code, output: output() };
}

function launch(
  { path }: Pick<Checkout, "path">,
  env: Environment,
  wrapper: readonly string[] = [],
) {
  const command = [...wrapper, process.execPath, join(path, "scripts/serve.ts")];
  const child = spawn(command[0] ?? "", command.slice(1), {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], EDGEFORGE_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  return { child, output: () => text };
}

async function exitOf(child: ChildProcess): Promise<number | string | null> {
  await once(child, "close");
  return child.exitCode ?? child.signalCode;
}
