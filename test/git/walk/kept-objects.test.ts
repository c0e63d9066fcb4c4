import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { KeptObjects } from "../../../src/git/walk/kept-objects.ts";
import { only } from "../../../src/lib/only.ts";
import { git, makeFixture, makeRepository } from "../support/git.ts";
import { makePack } from "../support/packs.ts";
import { type KeptPack, merge, receivePack, receivePushes } from "../support/pushes.ts";
import { makeRandom } from "../support/random.ts";
import { makeTextHistory } from "../support/text-history.ts";

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const objectsOf = (repository: string, revisions: readonly string[]): string[] =>
  lines(git(repository, ["rev-list", "--objects", "--no-object-names", ...revisions])).toSorted();

function open(packs: readonly KeptPack[]) {
  const catalog = new PackCatalog(packs);
  return { catalog, graph: new CommitGraph(catalog), objects: new PackedObjects(catalog) };
}

/**
 * Rewrites each pack without what none of `tips` reaches. A pack of which nothing is left is gone.
 */
async function collect(packs: readonly KeptPack[], tips: readonly string[]): Promise<KeptPack[]> {
  const source = open(packs);
  const kept = new KeptObjects(source.catalog);
  await kept.addReachable(source, tips, true);
  kept.addLargeBases();
  const left: KeptPack[] = [];
  for (const [pack, each] of packs.entries()) {
    const lost = kept.countLost(pack);
    if (lost.objectCount === each.idx.count) continue;
    const isKept = (_: number, position: number): boolean => kept.isKept(pack, position);
    const merged = await merge([each], { isKept });
    expect(merged.idx.count).toBe(each.idx.count - lost.objectCount);
    left.push(merged);
  }
  return left;
}

const oidsIn = (packs: readonly KeptPack[]): string[] =>
  [
    ...new Set(
      packs.flatMap(({ idx }) => Array.from({ length: idx.count }, (_, at) => idx.oid(at))),
    ),
  ].toSorted();

/** A bare repository with these packs and refs, which git checks. */
function checkByGit(packs: readonly KeptPack[], tips: readonly string[]): void {
  const directory = makeRepository();
  for (const { pack, idxBytes, idx } of packs) {
    const name = join(directory, `objects/pack/pack-${idx.packChecksum}`);
    writeFileSync(`${name}.pack`, pack, { mode: 0o444 });
    writeFileSync(`${name}.idx`, idxBytes, { mode: 0o444 });
    git(directory, ["verify-pack", `${name}.idx`]);
  }
  for (const [at, tip] of tips.entries()) git(directory, ["update-ref", `refs/tags/${at}`, tip]);
  // No "dangling": nothing is left that no ref reaches.
  expect(git(directory, ["fsck", "--full", "--strict"])).toBe("");
}

const histories = await Promise.all(
  ["1", "2", "3"].map(async (seed) => {
    const repository = makeFixture("random-history", seed, "200");
    const tips = lines(git(repository, ["for-each-ref", "--format=%(objectname)", "refs/heads"]));
    return { seed, repository, tips, packs: await receivePushes(repository, tips) };
  }),
);

describe.each(histories)("of random history $seed", ({ repository, tips, packs }) => {
  it.each([1, 2, 3, 4])("packs keep exactly what some refs reach (%i)", async (seed) => {
    const random = makeRandom(seed);
    const chosen = [...new Set([random.pick(tips), random.pick(tips)])];
    const left = await collect(packs, chosen);
    expect(oidsIn(left)).toEqual(objectsOf(repository, chosen));
    checkByGit(left, chosen);
    // What was collected can be collected again: its sidecars say the same.
    const [first] = chosen;
    const again = await collect(left, [first ?? ""]);
    expect(oidsIn(again)).toEqual(objectsOf(repository, [first ?? ""]));
  });
});

it("keeps what another repository reaches through its own packs", async () => {
  const { repository, tips, packs } = only(histories.slice(0, 1));
  const own = packs.slice(0, 2);
  const [tip = "", , other = ""] = tips;
  const source = open(own);
  const kept = new KeptObjects(source.catalog);
  await kept.addReachable(source, [tip], true);
  await kept.addReachable(open(packs), [other], true);
  const reached = new Set(objectsOf(repository, [tip, other]));
  const expected = oidsIn(own).filter((oid) => reached.has(oid));
  const found = own.flatMap(({ idx }, pack) =>
    Array.from({ length: idx.count }, (_, at) => at)
      .filter((at) => kept.isKept(pack, at))
      .map((at) => idx.oid(at)),
  );
  expect([...new Set(found)].toSorted()).toEqual(expected);
});

it("keeps tags of tags, and all below trees that tags name", async () => {
  const repository = makeFixture("history");
  const tree = git(repository, ["rev-parse", "main^{tree}"]);
  git(repository, ["tag", "-a", "-m", "tree", "on-tree", tree]);
  git(repository, ["tag", "-a", "-m", "again", "on-tag", "on-tree"]);
  const tag = git(repository, ["rev-parse", "on-tag"]);
  const packs = [await receivePack([], makePack(repository, ["main", tag], []))];
  const left = await collect(packs, [tag]);
  expect(oidsIn(left)).toEqual(objectsOf(repository, [tag]));
  checkByGit(left, [tag]);
});

it("refuses to keep what does not exist, unless it need not", async () => {
  const { packs } = only(histories.slice(0, 1));
  const source = open(packs);
  const kept = new KeptObjects(source.catalog);
  const absent = "1".repeat(40);
  await expect(kept.addReachable(source, [absent], true)).rejects.toMatchObject({
    code: "missing",
  });
  await kept.addReachable(source, [absent], false);
  expect(kept.has(absent)).toBe(false);
});

// A pack of a client has the latest version whole and the older ones as deltas of it.
it.each([0, 100, 250])("stays as small as it was when version %i of a text is last", async (at) => {
  const text = makeTextHistory(300);
  const tip = text.tips.at(-1) ?? "";
  const packs = [await receivePack([], makePack(text.directory, [tip], ["--delta-base-offset"]))];
  const last = text.tips[at] ?? "";
  const left = await collect(packs, [last]);
  const expected = makePack(text.directory, [last], ["--delta-base-offset"]);
  expect(oidsIn(left)).toEqual(objectsOf(text.directory, [last]));
  expect(left[0]?.pack.length).toBeLessThan(1.3 * expected.length);
  checkByGit(left, [last]);
});
