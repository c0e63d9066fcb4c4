import { describe, expect, it } from "vitest";

import { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { CommitGraph, NO_NODE } from "../../../src/git/walk/commit-graph.ts";
import { HaveWalk } from "../../../src/git/walk/have-walk.ts";
import { git, makeFixture } from "../support/git.ts";
import { makePack } from "../support/packs.ts";
import { gitReader, storePack } from "../support/sidecars.ts";
import { MemorySource } from "../support/sources.ts";

const repository = makeFixture("random-history", "7", "200");
const lines = (args: readonly string[]): string[] =>
  git(repository, args)
    .split("\n")
    .filter((line) => line !== "");

const stored = await storePack(
  makePack(repository, [], ["--all", "--delta-base-offset"]),
  gitReader(repository),
);
const catalog = new PackCatalog([{ ...stored, source: new MemorySource(stored.pack) }]);
const graph = new CommitGraph(catalog);
const branches = lines(["for-each-ref", "--format=%(objectname)", "refs/heads"]);
const nodesOf = (oids: readonly string[]) => oids.map((oid) => graph.find(oid));
const timesOf = (oids: readonly string[]) =>
  oids.map((oid) => Number(git(repository, ["show", "-s", "--format=%ct", oid]).trim()));

describe("HaveWalk", () => {
  it("names each commit that the refs reach once, newest first among those it knows", () => {
    const named = [...new HaveWalk(graph, nodesOf(branches), [])];
    expect(named.toSorted()).toEqual(lines(["rev-list", ...branches]).toSorted());
    // The first ones are tips, of which the newest comes first.
    expect(timesOf(named.slice(0, 1))[0]).toBe(Math.max(...timesOf(branches)));
    // As git orders its walk by time.
    expect(named).toEqual(lines(["rev-list", ...branches]));
  });

  it("names the other side's tips, and nothing below them", () => {
    const tip = branches[0] ?? "";
    const common = lines(["rev-list", "-1", "--skip=20", tip]);
    const named = [...new HaveWalk(graph, nodesOf([tip]), nodesOf(common))];
    const expected = lines(["rev-list", tip, `^${common[0] ?? ""}`]);
    expect(named.toSorted()).toEqual([...expected, ...common].toSorted());
    expect(expected.length).toBeGreaterThan(0);
  });

  it("names nothing below what turns out to be common", () => {
    const tip = branches[0] ?? "";
    const walk = new HaveWalk(graph, nodesOf([tip]), []);
    const common = lines(["rev-list", "-1", "--skip=5", tip])[0] ?? "";
    const below = new Set(lines(["rev-list", `${common}^@`]));
    const after: string[] = [];
    let isFound = false;
    for (const oid of walk) {
      if (isFound) after.push(oid);
      if (oid === common) {
        isFound = true;
        walk.onCommon(oid);
      }
    }
    expect(below.size).toBeGreaterThan(0);
    expect(after.filter((oid) => below.has(oid))).toEqual([]);
  });

  it("has nothing to name without refs", () => {
    expect([...new HaveWalk(graph, [NO_NODE], [NO_NODE])]).toEqual([]);
  });
});
