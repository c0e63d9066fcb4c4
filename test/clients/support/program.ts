import { spawn, spawnSync } from "node:child_process";

import type { Outcome } from "./git.ts";

/** Whether a program can be run here. */
export const hasProgram = (name: string, ...args: string[]): boolean =>
  spawnSync(name, args.length > 0 ? args : ["--version"], { stdio: "ignore" }).status === 0;

/** Runs a program, which may fail, with this process's environment and more. */
export function tryProgram(
  directory: string,
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: directory,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output, stdout }));
  });
}

/** Runs a program, which must succeed, and returns what it prints. */
export async function runProgram(
  directory: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, output, stdout } = await tryProgram(directory, command, env);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${output}`);
  return stdout;
}
