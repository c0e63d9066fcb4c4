import { execFileSync } from "node:child_process";

import type { Example } from "./read-examples.ts";

const MARK = "@@next example@@";
/** For all of them: some wait for what happens behind an answer. */
const TIMEOUT_MS = 60_000;

/**
 * Runs examples in one shell, as a reader would paste them: later ones use the variables of earlier ones.
 *
 * @returns What each printed.
 * @throws Error when a command of theirs fails.
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

/** The first line that says what an example does. */
export const titleOf = ({ command }: Example): string =>
  command.split("\n").find((line) => !line.startsWith("#") && line.trim() !== "") ?? "";
