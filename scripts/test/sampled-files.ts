import { readImports } from "../check/folder-cycles.ts";
import { inProject } from "../project.ts";

/** The module that chooses samples. */
const SAMPLE = "test/support/sample.ts";

/** The test files that take samples, directly or through a module of test/support. */
export function sampledFiles(): string[] {
  const importers = new Map<string, string[]>();
  for (const { from, to } of readImports(inProject("."), "test")) {
    importers.set(to, [...(importers.get(to) ?? []), from]);
  }
  const found = new Set([SAMPLE]);
  for (const file of found) for (const from of importers.get(file) ?? []) found.add(from);
  return [...found].filter((file) => file.endsWith(".test.ts")).toSorted();
}
