import { execFileSync } from "node:child_process";

import type { Example } from "./read-examples.ts";

const MARK = "@@next example@@";

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
    env: { ...process.env, ...env },
  });
  return output.split(`${MARK}\n`).map((printed) => printed.trim());
}

/** The first line that says what an example does. */
export const titleOf = ({ command }: Example): string =>
  command.split("\n").find((line) => !line.startsWith("#") && line.trim() !== "") ?? "";
