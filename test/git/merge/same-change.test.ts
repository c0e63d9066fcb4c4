import { describe, expect, it } from "vitest";

import { isSameChange } from "../../../src/git/merge/same-change.ts";
import { HistoryWriter, type MadeTree } from "./histories.ts";

const treeOf = (files: Readonly<Record<string, string>>): MadeTree =>
  new Map(
    Object.entries(files).map(([path, content]) => [path, { mode: "100644" as const, content }]),
  );

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join("");

const OLD = lines("1", "2", "3", "4", "5", "6", "7", "8", "9");
const TOPIC = lines("1", "TWO", "3", "4", "5", "6", "7", "8", "9");
/** The base, once it has changed another line and another file. */
const NEW = { a: lines("1", "2", "3", "4", "5", "6", "7", "8", "NINE"), b: "b\n" };
const MERGED = { a: lines("1", "TWO", "3", "4", "5", "6", "7", "8", "NINE"), b: "b\n" };

/**
 * A base of two commits, and the former head of a branch that left the first one.
 *
 * @param make Makes the new head; the marks are those of the base's commits and of the former head.
 */
async function isSame(
  make: (writer: HistoryWriter, root: number, base: number, former: number) => number,
): Promise<boolean> {
  const writer = new HistoryWriter();
  const root = writer.commit(treeOf({ a: OLD }), []);
  const base = writer.commit(treeOf(NEW), [root]);
  const former = writer.commit(treeOf({ a: TOPIC }), [root]);
  const head = make(writer, root, base, former);
  const { graph, objects, oidOf } = await writer.store();
  const node = (mark: number) => graph.find(oidOf(mark));
  return isSameChange(graph, objects, node(base), node(former), node(head));
}

describe("isSameChange", () => {
  it.each<[string, Parameters<typeof isSame>[0]]>([
    ["a merge of the base", (to, _root, base, former) => to.commit(treeOf(MERGED), [former, base])],
    ["a rebase", (to, _root, base) => to.commit(treeOf(MERGED), [base])],
    ["another message", (to, root) => to.commit(treeOf({ a: TOPIC }), [root], "again")],
    [
      "a commit that changes nothing",
      (to, _, __, former) => to.commit(treeOf({ a: TOPIC }), [former]),
    ],
  ])("finds the change unchanged by %s", async (_name, make) => {
    expect(await isSame(make)).toBe(true);
  });

  it.each<[string, Parameters<typeof isSame>[0]]>([
    ["another commit", (to, _root, _base, former) => to.commit(treeOf({ a: "a\n" }), [former])],
    [
      "a merge of the base that changes more",
      (to, _root, base, former) => to.commit(treeOf({ ...MERGED, c: "c\n" }), [former, base]),
    ],
    [
      "a merge that takes nothing of the base",
      (to, _root, base, former) => to.commit(treeOf({ a: TOPIC }), [former, base]),
    ],
    [
      "a rebase with other white space",
      (to, _root, base) =>
        to.commit(treeOf({ ...MERGED, a: MERGED.a.replace("TWO", " TWO") }), [base]),
    ],
    ["a head that gives the change up", (to, _root, base) => to.commit(treeOf(NEW), [base])],
    ["an unrelated history", (to) => to.commit(treeOf({ a: TOPIC }), [])],
  ])("finds another change after %s", async (_name, make) => {
    expect(await isSame(make)).toBe(false);
  });

  // The base's own commit would be undone by the merge of such a head, or become its change.
  it("finds another change where the branch goes back to an earlier commit of the base", async () => {
    const writer = new HistoryWriter();
    const root = writer.commit(treeOf({ a: OLD }), []);
    const base = writer.commit(treeOf(NEW), [root]);
    const former = writer.commit(treeOf(MERGED), [base]);
    const head = writer.commit(treeOf(MERGED), [root]);
    const { graph, objects, oidOf } = await writer.store();
    const node = (mark: number) => graph.find(oidOf(mark));
    expect(await isSameChange(graph, objects, node(base), node(former), node(head))).toBe(false);
  });
});
