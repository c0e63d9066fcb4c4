import { expect } from "vitest";

import { git } from "./git.ts";

/** Refs of a directory, as `<oid> <name>` lines. */
export async function listRefs(directory: string): Promise<string[]> {
  return linesOf(await git(directory, ["for-each-ref", "--format=%(objectname) %(refname)"]));
}

/** Id, kind and size of all objects in `directory`. */
export async function listObjects(directory: string): Promise<string[]> {
  const listing = await git(directory, ["cat-file", "--batch-all-objects", "--batch-check"]);
  return linesOf(listing);
}

/**
 * Id, kind and size of all objects reachable from the refs of `directory`, or from other revisions.
 */
export async function listReached(directory: string, ...revisions: string[]): Promise<string[]> {
  const from = revisions.length > 0 ? revisions : ["--all"];
  const oids = await git(directory, ["rev-list", "--objects", "--no-object-names", ...from]);
  if (oids === "") return [];
  const listing = await git(directory, ["cat-file", "--batch-check"], `${oids}\n`);
  return linesOf(listing).toSorted();
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Fails with the first few lines that are in only one of two lists. */
export function expectSameLines(actual: readonly string[], expected: readonly string[]): void {
  const [actualSet, expectedSet] = [new Set(actual), new Set(expected)];
  const extra = actual.filter((line) => !expectedSet.has(line));
  const missing = expected.filter((line) => !actualSet.has(line));
  const shown = { extra: extra.slice(0, 5), missing: missing.slice(0, 5) };
  expect({ ...shown, count: actualSet.size }).toEqual({
    extra: [],
    missing: [],
    count: expectedSet.size,
  });
}

/**
 * Checks that a mirror has the refs of its source, and exactly the objects that are reachable from
 * them.
 */
export async function expectMirror(copy: string, source: string): Promise<void> {
  expectSameLines(await listRefs(copy), await listRefs(source));
  expectSameLines(await listObjects(copy), await listReached(source));
}
