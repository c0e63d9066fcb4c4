import { describe, expect, it } from "vitest";

import { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import type { OutsideObjects } from "../../../src/git/store.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { ReachableObjects, type RefTip } from "../../../src/git/walk/reachable-objects.ts";
import { git, makeFixture, makeRepository } from "../support/git.ts";
import { openHistory, type StoredHistory } from "../support/history.ts";
import { makePack } from "../support/packs.ts";
import { type KeptPack, receivePushes } from "../support/pushes.ts";
import { makeRandom } from "../support/random.ts";
import { storePack } from "../support/sidecars.ts";

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const objectsOf = (repository: string, revisions: readonly string[]): Set<string> =>
  new Set(lines(git(repository, ["rev-list", "--objects", "--no-object-names", ...revisions])));

const branch = (name: string, oid: string): RefTip => ({
  name: `refs/heads/${name}`,
  oid,
  peeledOid: null,
});

/** The packs of several pushes as one history. */
function openPacks(repository: string, packs: readonly KeptPack[]): StoredHistory {
  const catalog = new PackCatalog(packs);
  const graph = new CommitGraph(catalog);
  return { repository, catalog, graph, objects: new PackedObjects(catalog) };
}

const oidsOf = ({ catalog }: StoredHistory): string[] => [
  ...new Set(
    catalog.packs.flatMap(({ idx }) => Array.from({ length: idx.count }, (_, at) => idx.oid(at))),
  ),
];

const histories = await Promise.all([
  openHistory(makeFixture("history")),
  openHistory(makeFixture("random-history", "1", "300")),
  (async () => {
    const repository = makeFixture("random-history", "2", "300");
    const tips = lines(git(repository, ["for-each-ref", "--format=%(objectname)", "refs/heads"]));
    return openPacks(repository, await receivePushes(repository, tips));
  })(),
]);

describe.each(histories)("of the history at $repository", (history) => {
  const tips = lines(
    git(history.repository, ["for-each-ref", "--format=%(objectname)", "refs/heads"]),
  );

  // Few look-ups are scans, many use a table: both must agree with git.
  it.each([1, 2, 3, 4])("the objects that some refs reach are those of git (%i)", async (seed) => {
    const random = makeRandom(seed);
    const chosen = [random.pick(tips), random.pick(tips)];
    const expected = objectsOf(history.repository, chosen);
    const refs = chosen.map((oid, at) => branch(String(at), oid));
    const all = oidsOf(history).toSorted(() => random.below(3) - 1);
    let reachable = new ReachableObjects(history, refs);
    const found: string[] = [];
    for (const [at, oid] of all.entries()) {
      // For half of the objects afresh, so that nothing is known yet.
      if (at % 20 === 0 && at < all.length / 2) reachable = new ReachableObjects(history, refs);
      if ((await reachable.find(oid)) !== undefined) found.push(oid);
    }
    expect(found.toSorted()).toEqual(all.filter((oid) => expected.has(oid)).toSorted());
  });

  it("are the same if some of the refs are loaded on demand", async () => {
    const random = makeRandom(6);
    const refs = tips.map((oid, at) => branch(String(at), oid));
    const [own, others] = [refs.slice(0, 1), refs.slice(1)];
    let loads = 0;
    const loadRest = () => Promise.resolve((loads++, others));
    const reachable = new ReachableObjects(history, own, undefined, loadRest);
    const whole = new ReachableObjects(history, refs);
    for (let round = 0; round < 100; round++) {
      const oid = random.pick(oidsOf(history));
      expect(await reachable.find(oid)).toBe(await whole.find(oid));
    }
    const { usedRefs } = reachable;
    expect(usedRefs.length).toBeGreaterThan(0);
    for (const ref of usedRefs) expect(refs).toContain(ref);
    expect(loads).toBeGreaterThan(0);
  });

  it("are found without loading refs, if the first ones reach them", async () => {
    const [tip = ""] = tips;
    const refuse = () => Promise.reject(new Error("no other refs are needed"));
    const reachable = new ReachableObjects(history, [branch("main", tip)], undefined, refuse);
    for (const oid of objectsOf(history.repository, [tip])) {
      expect(await reachable.find(oid)).toBeDefined();
    }
    // An object that does not exist and one that no ref reaches have the same result.
    await expect(reachable.find("f".repeat(40))).rejects.toThrow("no other refs are needed");
  });

  it("each answer names a ref that alone gives the same answer", async () => {
    const refs = tips.map((oid, at) => branch(String(at), oid));
    const random = makeRandom(5);
    for (let round = 0; round < 30; round++) {
      const oid = random.pick(oidsOf(history));
      const reachable = new ReachableObjects(history, refs);
      const kind = await reachable.find(oid);
      expect(kind).toBe(git(history.repository, ["cat-file", "-t", oid]));
      const { usedRefs } = reachable;
      expect(usedRefs).toHaveLength(1);
      expect(await new ReachableObjects(history, usedRefs).find(oid)).toBe(kind);
    }
  });
});

describe("what a tag names without a commit", () => {
  const repository = makeRepository();
  const blob = git(repository, ["hash-object", "-w", "--stdin"], { input: "a file" });
  const inner = git(repository, ["mktree"], { input: `100644 blob ${blob}\tfile\n` });
  const outer = git(repository, ["mktree"], { input: `040000 tree ${inner}\tfolder\n` });
  git(repository, ["tag", "-a", "-m", "tree", "tree", outer]);
  git(repository, ["tag", "-a", "-m", "tag", "tag", "tree"]);
  const parse = (name: string): string => git(repository, ["rev-parse", name]);
  const tag: RefTip = { name: "refs/tags/tag", oid: parse("tag"), peeledOid: outer };

  it("is reached with the tags in between and all below", async () => {
    const history = await openHistory(repository);
    for (const [oid, kind] of [
      [parse("tag"), "tag"],
      [parse("tree"), "tag"],
      [outer, "tree"],
      [inner, "tree"],
      [blob, "blob"],
    ] as const) {
      const reachable = new ReachableObjects(history, [tag]);
      expect([oid, await reachable.find(oid)]).toEqual([oid, kind]);
      expect(reachable.usedRefs).toEqual([tag]);
    }
    expect(await new ReachableObjects(history, []).find(blob)).toBeUndefined();
  });
});

describe("the work of a push of one commit", () => {
  /** A history in which each commit edits one of ten files, and the last one edits `file0`. */
  async function openLong(commits: number) {
    const repository = makeRepository();
    const text = (at: number): string => `${"some line\n".repeat(20)}${at}\n`;
    const stream = Array.from({ length: commits }, (_, at) => {
      const files = at === 0 ? [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : [(commits - 1 - at) % 9];
      const changes = files.map(
        (file) =>
          `M 100644 inline folder/file${file}\ndata ${text(at + file).length}\n${text(at + file)}\n`,
      );
      const who = `A <a@b> ${1_700_000_000 + at} +0000`;
      return `commit refs/heads/main\ncommitter ${who}\ndata 1\nc\n${changes.join("")}`;
    });
    git(repository, ["fast-import", "--quiet"], { input: stream.join("") });
    return { history: await openHistory(repository), tip: git(repository, ["rev-parse", "main"]) };
  }

  /** Pushes an edit of a file, and counts. */
  async function countPush(commits: number, file: number) {
    const { history, tip } = await openLong(commits);
    const { repository, objects } = history;
    const text = `${"some line\n".repeat(20)}edited\n`;
    const change = `M 100644 inline folder/file${file}\ndata ${text.length}\n${text}\n`;
    const commit = `commit refs/heads/main\ncommitter A <a@b> 1800000000 +0000\ndata 1\nc\n`;
    git(repository, ["fast-import", "--quiet"], { input: `${commit}from ${tip}\n${change}` });
    const pack = makePack(repository, ["main", "--not", tip], ["--thin", "--delta-base-offset"]);
    const reachable = new ReachableObjects(history, [branch("main", tip)]);
    let asked = 0;
    const outside: OutsideObjects = {
      find: (oid) => {
        asked++;
        return reachable.find(oid);
      },
      readObject: (oid) => objects.readObject(oid),
    };
    const stored = await storePack(pack, outside);
    expect(stored.idx.count).toBeGreaterThan(4);
    return { asked, commits: reachable.work.commits, usedRefs: reachable.usedRefs.length };
  }

  it("does not grow with the history where the edited file was edited lately", async () => {
    const short = await countPush(100, 0);
    const long = await countPush(2000, 0);
    expect(long).toEqual({ ...short, usedRefs: 1 });
    // The parent, and the bases of the root, the folder and the file.
    expect(long.asked).toBeLessThanOrEqual(4);
    // The files are edited in turn.
    expect(long.commits).toBeLessThanOrEqual(10);
  });

  it("walks each commit once at most where it was not", async () => {
    expect((await countPush(2000, 9)).commits).toBeLessThanOrEqual(2000);
  });

  it("compares each list of introduced objects a limited number of times", async () => {
    const { history, tip } = await openLong(500);
    const reachable = new ReachableObjects(history, [
      branch("other", git(history.repository, ["rev-parse", `${tip}~400`])),
    ]);
    for (const oid of oidsOf(history)) await reachable.find(oid);
    const { introduced } = history.catalog.pack(0).sidecar;
    expect(reachable.work.commits).toBe(100);
    expect(reachable.work.numbers).toBeLessThanOrEqual(65 * introduced.length);
  });
});
