import { execFileSync } from "node:child_process";

import type { Example } from "./read-examples.ts";

const MARK = "@@next example@@";
/** For all examples together: some wait for work that follows a response. */
const TIMEOUT_MS = 60_000;

/**
 * Runs examples in one shell, as a reader would paste them: later examples use the variables of earlier ones.
 *
 * @returns The output of each example.
 * @throws Error if a command fails.
 */
export function runExamples(
  examples: readonly Example[],
  directory: string,
  env: Record<string, string>,
): string[] {
  const script = examples.map(({ command }) => `${command}\necho; echo "${MARK}"`).join("\n");
  const output = execFileSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    env: { ...process.env, ...env },
  });
  return output.split(`${MARK}\n`).map((printed) => printed.trim());
}

/** The first line of an example's command that is not a comment. */
export const titleOf = ({ command }: Example): string =>
  command.split("\n").find((line) => !line.startsWith("#") && line.trim() !== "") ?? "";
