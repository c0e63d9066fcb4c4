import { readFileSync } from "node:fs";

import { expect } from "vitest";

import { findMismatch, readExamples } from "../../scripts/documents/read-examples.ts";
import { runExamples } from "../../scripts/documents/run-examples.ts";

/** Runs the commands of a document as a reader would paste them, and compares what they print with what it says. */
export function expectDocumentHolds(
  path: string,
  directory: string,
  env: Record<string, string>,
): void {
  const examples = readExamples(readFileSync(path, "utf8"));
  const printed = runExamples(examples, directory, env);
  const mismatches = examples.map(({ expected }, at) => findMismatch(expected, printed[at] ?? ""));
  expect(examples.length).toBeGreaterThan(2);
  expect(mismatches).toEqual(examples.map(() => undefined));
}
