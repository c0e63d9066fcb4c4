import { expect } from "vitest";

import { git } from "./git.ts";

/** Refs of a directory, as `<oid> <name>` lines. */
export async function listRefs(directory: string): Promise<string[]> {
  return linesOf(await git(directory, ["for-each-ref", "--format=%(objectname) %(refname)"]));
}

/** Kind and size of all that `directory` holds, by id. */
export async function listObjects(directory: string): Promise<string[]> {
  const listing = await git(directory, ["cat-file", "--batch-all-objects", "--batch-check"]);
  return linesOf(listing);
}

/** The same of what the refs of `directory`, or other revisions, reach. */
export async function listReached(directory: string, ...revisions: string[]): Promise<string[]> {
  const from = revisions.length > 0 ? revisions : ["--all"];
  const oids = await git(directory, ["rev-list", "--objects", "--no-object-names", ...from]);
  if (oids === "") return [];
  const listing = await git(directory, ["cat-file", "--batch-check"], `${oids}\n`);
  return linesOf(listing).toSorted();
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Fails with the first few lines that only one of two lists has. */
export function expectSameLines(actual: readonly string[], expected: readonly string[]): void {
  const [here, there] = [new Set(actual), new Set(expected)];
  const extra = actual.filter((line) => !there.has(line));
  const missing = expected.filter((line) => !here.has(line));
  const shown = { extra: extra.slice(0, 5), missing: missing.slice(0, 5) };
  expect({ ...shown, count: here.size }).toEqual({ extra: [], missing: [], count: there.size });
}

/**
 * Ref for ref and object for object: a mirror holds what the refs of its source reach, no less and
 * nothing else.
 */
export async function expectMirror(copy: string, source: string): Promise<void> {
  expectSameLines(await listRefs(copy), await listRefs(source));
  expectSameLines(await listObjects(copy), await listReached(source));
}
