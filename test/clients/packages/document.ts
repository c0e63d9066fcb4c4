import { readFileSync } from "node:fs";

import { findMismatch, readExamples } from "../../scripts/documents/read-examples.ts";
import { runExamples } from "../../scripts/documents/run-examples.ts";

/**
 * Runs the commands of a document as a reader would paste them.
 *
 * @returns Where they print something else than the document says.
 * @throws Error if the document has no commands, or one of them fails.
 */
export async function runDocument(
  path: string,
  directory: string,
  env: Record<string, string>,
): Promise<string[]> {
  const examples = readExamples(readFileSync(path, "utf8"));
  if (examples.length < 2) throw new Error(`${path} has no examples`);
  const printed = await runExamples(examples, directory, env);
  return examples
    .map(({ expected }, at) => findMismatch(expected, printed[at] ?? ""))
    .filter((mismatch) => mismatch !== undefined);
}
