import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Example } from "./read-examples.ts";

const MARK = "@@next example@@";
/** For all examples together: some wait for work that follows a response. */
const TIMEOUT_MS = 60_000;

/**
 * Runs examples in one shell, as a reader would paste them: later examples use the variables of
 * earlier ones. It is the plain `sh`, so that they run in every shell. That it ends where a command
 * fails only shows the failure.
 *
 * @returns The output of each example.
 * @throws Error if a command fails.
 */
export async function runExamples(
  examples: readonly Example[],
  directory: string,
  env: Record<string, string>,
): Promise<string[]> {
  const script = examples.map(({ command }) => `${command}\necho; echo "${MARK}"`).join("\n");
  // This process reads the service's log meanwhile.
  const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
    cwd: directory,
    timeout: TIMEOUT_MS,
    env: { ...process.env, ...env },
  });
  return stdout.split(`${MARK}\n`).map((printed) => printed.trim());
}

/** The first line of an example's command that is not a comment. */
export const titleOf = ({ command }: Example): string =>
  command.split("\n").find((line) => !line.startsWith("#") && line.trim() !== "") ?? "";
