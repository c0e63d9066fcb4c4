import { type Budget, runNow } from "../../../src/git/budget.ts";
import { describe, expect, it } from "vitest";
import { type ByteText, encodeText } from "../../../src/git/byte-text.ts";
import { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { CommitGraph, type Node } from "../../../src/git/walk/commit-graph.ts";
import { findLastCommits, startSearch } from "../../../src/git/walk/last-commits.ts";
import { findLastCommitsOfPaths } from "../../../src/git/walk/last-commits-of-paths.ts";
import { containingInTurns } from "../../../src/git/walk/containing.ts";
import { Lanes } from "../../../src/git/walk/lanes.ts";
import { findRange, logByTime, logByTopology } from "../../../src/git/walk/log.ts";
import {
  findDivergence,
  mergeBasesInTurns,
  findAncestors,
  isAncestor,
} from "../../../src/git/walk/merge-bases.ts";
import { topologyInTurns } from "../../../src/git/walk/topological-log.ts";
import { PathFinder } from "../../../src/git/walk/path-finder.ts";
import { logPath, PathTrail } from "../../../src/git/walk/path-history.ts";
import { CountingBudget } from "../support/counting-budget.ts";
import { git, makeFixture } from "../support/git.ts";
import { makePack } from "../support/packs.ts";
import { makeRandom } from "../support/random.ts";
import { gitReader, storePack } from "../support/sidecars.ts";
import { MemorySource } from "../support/sources.ts";

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

async function openRepository(repository: string) {
  const pack = makePack(repository, [], ["--all", "--delta-base-offset"]);
  const stored = await storePack(pack, gitReader(repository));
  const catalog = new PackCatalog([{ ...stored, source: new MemorySource(stored.pack) }]);
  const graph = new CommitGraph(catalog);
  const branches = lines(git(repository, ["for-each-ref", "--format=%(objectname)", "refs/heads"]));
  return { repository, catalog, graph, branches };
}

// Histories of many shapes, so that an algorithm which is only approximately right fails on one of
// them.
const histories = await Promise.all([
  openRepository(makeFixture("history")),
  ...[1, 2, 3].map((seed) => openRepository(makeFixture("random-history", String(seed), "300"))),
]);

const oidsOf = (graph: CommitGraph, nodes: Iterable<Node>): string[] =>
  Array.from(nodes, (node) => graph.oid(node));

describe.each(histories)(
  "in the history at $repository",
  ({ repository, graph, branches, catalog }) => {
    const random = makeRandom(9);
    const pairs = Array.from(
      { length: 40 },
      () => [random.pick(branches), random.pick(branches)] as const,
    );
    const revList = (...args: string[]): string[] => lines(git(repository, ["rev-list", ...args]));

    it("logs commits in the same orders as git", () => {
      const ordered = revList("--branches");
      const tips = branches.map((oid) => graph.find(oid));
      // Git takes tips in the order of their refs, which is the order of `branches`.
      expect(oidsOf(graph, logByTime(graph, { tips }))).toEqual(ordered);
      expect(oidsOf(graph, logByTopology(graph, { tips }))).toEqual(
        revList("--topo-order", "--branches"),
      );
      expect(oidsOf(graph, logByTopology(graph, { tips }, true))).toEqual(
        revList("--date-order", "--branches"),
      );
      const first = branches.at(-1) ?? "";
      expect(
        oidsOf(graph, logByTime(graph, { tips: [graph.find(first)], isFirstParent: true })),
      ).toEqual(revList("--first-parent", first));
    });

    it("lists the first commits in date order as git does", () => {
      const tips = branches.map((oid) => graph.find(oid));
      const ordered = revList("--date-order", "--branches");
      for (const max of [1, 7, 50, ordered.length + 1]) {
        const listed = runNow(topologyInTurns(graph, tips, max));
        expect(oidsOf(graph, listed)).toEqual(ordered.slice(0, max));
      }
    });

    it("draws a lane from each commit to each of its parents", () => {
      const tips = branches.map((oid) => graph.find(oid));
      const lanes = new Lanes(graph);
      /** For each lane that is drawn, the commits that lead into it. */
      const open = new Map<number, Node[]>();
      for (const node of runNow(topologyInTurns(graph, tips, graph.count))) {
        const { lane, above, below, passing } = lanes.place(node);
        const children = above.flatMap((each) => open.get(each) ?? []);
        const theirs = [...graph.parents(node)];
        for (const each of above) open.delete(each);
        expect(new Set(open.keys())).toEqual(new Set(passing));
        expect(passing).not.toContain(lane);
        for (const child of children) expect([...graph.parents(child)]).toContain(node);
        for (const each of below) open.set(each, [...(open.get(each) ?? []), node]);
        expect(below).toHaveLength(new Set(theirs).size);
      }
      expect([...open.keys()]).toEqual([]);
    });

    it("finds the branches that contain a commit as git does", () => {
      const tips = branches.map((oid) => graph.find(oid));
      for (const [commit] of pairs.slice(0, 10)) {
        const contains = runNow(containingInTurns(graph, graph.find(commit), tips));
        const found = branches.filter((oid) => contains(graph.find(oid)));
        const format = "--format=%(objectname)";
        const args = ["for-each-ref", format, "--contains", commit, "refs/heads"];
        expect(found).toEqual(lines(git(repository, args)));
      }
    });

    it("finds the commits and the boundary of a range as git does", () => {
      for (const [left, right] of pairs) {
        const { nodes, boundary } = findRange(graph, [graph.find(left)], [graph.find(right)]);
        expect(oidsOf(graph, nodes).toSorted()).toEqual(revList(left, `^${right}`).toSorted());
        const edges = revList("--boundary", left, `^${right}`)
          .filter((line) => line.startsWith("-"))
          .map((line) => line.slice(1));
        expect(oidsOf(graph, boundary).toSorted()).toEqual(edges.toSorted());
        const excluded = [graph.find(right)];
        const log = logByTime(graph, { tips: [graph.find(left)], excluded });
        expect(oidsOf(graph, log)).toHaveLength(nodes.size);
      }
    });

    it("finds all merge bases that git finds", () => {
      for (const [left, right] of pairs) {
        const bases = runNow(mergeBasesInTurns(graph, graph.find(left), [graph.find(right)]));
        const theirs = lines(
          git(repository, ["merge-base", "--all", left, right], { mayFail: true }),
        );
        expect(oidsOf(graph, bases).toSorted()).toEqual(theirs.toSorted());
      }
      const [a = "", b = "", c = ""] = branches;
      const bases = runNow(mergeBasesInTurns(graph, graph.find(a), [graph.find(b), graph.find(c)]));
      const theirs = lines(git(repository, ["merge-base", "--all", a, b, c], { mayFail: true }));
      expect(oidsOf(graph, bases).toSorted()).toEqual(theirs.toSorted());
    });

    it("finds the commits of each side and the merge bases of a divergence as git does", () => {
      for (const [left, right] of pairs) {
        const { bases, ...sides } = findDivergence(graph, graph.find(left), graph.find(right));
        const range = `${left}...${right}`;
        const theirs = lines(git(repository, ["rev-list", "--left-right", range]));
        const marked = [
          ...oidsOf(graph, sides.left).map((oid) => `<${oid}`),
          ...oidsOf(graph, sides.right).map((oid) => `>${oid}`),
        ];
        expect(marked.toSorted()).toEqual(theirs.toSorted());
        expect(bases).toEqual(
          runNow(mergeBasesInTurns(graph, graph.find(left), [graph.find(right)])),
        );
      }
    });

    it("recognizes ancestors, one at a time and many at once", () => {
      for (const [left, right] of pairs.slice(0, 15)) {
        const isOurs = isAncestor(graph, graph.find(left), graph.find(right));
        expect(isOurs).toBe(revList(right).includes(left));
      }
      const [tip = ""] = branches.slice(-1);
      const nodes = branches.map((oid) => graph.find(oid));
      const reached = new Set(revList(tip));
      expect(oidsOf(graph, findAncestors(graph, graph.find(tip), nodes)).toSorted()).toEqual(
        branches.filter((oid, at) => reached.has(oid) && branches.indexOf(oid) === at).toSorted(),
      );
    });

    const packed = new PackedObjects(catalog);
    const paths = "dir0 dir1/file1 dir2/file3 docs docs/numbers.txt README.md none".split(" ");
    const historyOf = async (path: string, tip: string, isFirst = false): Promise<string[]> => {
      const finder = new PathFinder(catalog, packed, encodeText(path));
      const range = { tips: [graph.find(tip)], isFirstParent: isFirst };
      const nodes: Node[] = [];
      for await (const node of logPath(graph, finder, range)) {
        nodes.push(node);
      }
      return oidsOf(graph, nodes);
    };

    it("lists the history of a path as git log does", async () => {
      const [tip = ""] = branches.slice(-1);
      for (const path of paths) {
        const ours = await historyOf(path, tip);
        expect([path, ours]).toEqual([path, revList(tip, "--", path)]);
      }
    });

    it("finds the last commit of each entry of a directory as git log does", async () => {
      const [tip = ""] = branches.slice(-1);
      for (const directory of ["", "docs", "docs/deep", "src", "dir0", "dir1", "dir2"]) {
        const path = directory === "" ? "" : `${directory}/`;
        const names = lines(
          git(repository, [
            "ls-tree",
            "-z",
            "--name-only",
            tip,
            ...(path === "" ? [] : [path]),
          ]).replaceAll("\0", "\n"),
        ).map((name) => name.slice(path.length) as ByteText);
        const search = startSearch(graph.find(tip), names);
        await findLastCommits(graph, catalog, packed, encodeText(directory), search);
        const { found } = search;
        for (const name of names) {
          const [theirs] = revList(
            "-1",
            tip,
            "--",
            `:(literal)${Buffer.from(path + name, "latin1").toString()}`,
          );
          const node = found.get(name);
          expect([directory, name, node !== undefined && graph.oid(node)]).toEqual([
            directory,
            name,
            theirs,
          ]);
        }
        expect(found.size).toBe(names.length);
      }
    });

    it("finds the last commits of paths across the tree as git log does", async () => {
      const [tip = ""] = branches.slice(-1);
      const listed = git(repository, ["ls-tree", "-rtz", "--name-only", tip]).split("\0");
      const all = ["no/thing", ...listed.filter((path) => path !== "")] as ByteText[];
      const search = startSearch(graph.find(tip), all.keys());
      await findLastCommitsOfPaths(graph, catalog, packed, all, search);
      const { found } = search;
      for (const [at, path] of all.entries()) {
        const literal = `:(literal)${Buffer.from(path, "latin1").toString()}`;
        const [theirs] = revList("-1", tip, "--", literal);
        const ours = found.get(at);
        expect([path, ours === undefined ? undefined : graph.oid(ours)]).toEqual([path, theirs]);
      }
    });

    /**
     * Repeats a walk with small budgets until it comes to its end; returns how often it was
     * continued.
     */
    async function inSteps(walk: (packed: PackedObjects, budget: Budget) => Promise<boolean>) {
      for (let times = 0; times < 1000; times++) {
        // Larger each time: one read of an object with a long chain of deltas may take more than
        // the first ones.
        const budget = new CountingBudget(3000 + 1000 * times);
        // Without what earlier walks have cached.
        const isDone = await walk(new PackedObjects(catalog, () => {}, budget), budget);
        if (isDone) return times;
        expect(budget.isExhausted).toBe(true);
      }
      throw new Error("the walk does not come to its end");
    }

    it("lists the same history of a path within many small budgets", async () => {
      const [tip = ""] = branches.slice(-1);
      let continued = 0;
      for (const path of paths) {
        const whole = await historyOf(path, tip);
        const trail = new PathTrail();
        let listed: string[] = [];
        continued += await inSteps(async (objects, budget) => {
          const finder = new PathFinder(catalog, objects, encodeText(path));
          const nodes: Node[] = [];
          const range = { tips: [graph.find(tip)] };
          for await (const node of logPath(graph, finder, range, budget, trail)) nodes.push(node);
          listed = oidsOf(graph, nodes);
          // As far as it goes, it is the beginning of the whole.
          expect(listed).toEqual(whole.slice(0, listed.length));
          return trail.isEnded;
        });
        expect([path, listed]).toEqual([path, whole]);
      }
      expect(continued).toBeGreaterThan(paths.length);
    });

    it("finds the same last commits within many small budgets", async () => {
      const [tip = ""] = branches.slice(-1);
      let continued = 0;
      for (const directory of ["", "docs", "src", "dir0", "dir1", "dir2"]) {
        const path = encodeText(directory);
        const above = directory === "" ? [] : [`${directory}/`];
        const listed = git(repository, ["ls-tree", "-z", "--name-only", tip, ...above]);
        const names = listed
          .split("\0")
          .filter((name) => name !== "")
          .map((name) => name.slice(directory === "" ? 0 : directory.length + 1) as ByteText);
        const whole = startSearch(graph.find(tip), names);
        await findLastCommits(graph, catalog, packed, path, whole);
        const search = startSearch(graph.find(tip), names);
        continued += await inSteps(async (objects, budget) => {
          await findLastCommits(graph, catalog, objects, path, search, budget);
          return search.waiting.size === 0;
        });
        expect(search.found).toEqual(whole.found);
      }
      const all = paths.map((path) => encodeText(path));
      const whole = startSearch(graph.find(tip), all.keys());
      await findLastCommitsOfPaths(graph, catalog, packed, all, whole);
      const search = startSearch(graph.find(tip), all.keys());
      continued += await inSteps(async (objects, budget) => {
        await findLastCommitsOfPaths(graph, catalog, objects, all, search, budget);
        return search.waiting.size === 0;
      });
      expect(search.found).toEqual(whole.found);
      expect(continued).toBeGreaterThan(5);
    });

    it("lists the first-parent history of a path as git log does", async () => {
      const [tip = ""] = branches.slice(-1);
      for (const path of paths) {
        const ours = await historyOf(path, tip, true);
        expect([path, ours]).toEqual([path, revList("--first-parent", tip, "--", path)]);
      }
    });

    it("lists the history of a path in a range as git log does", async () => {
      for (const [left, right] of pairs.slice(0, 12)) {
        for (const path of paths) {
          const finder = new PathFinder(catalog, packed, encodeText(path));
          const range = { tips: [graph.find(left)], excluded: [graph.find(right)] };
          const nodes: Node[] = [];
          for await (const node of logPath(graph, finder, range)) nodes.push(node);
          const theirs = revList(left, `^${right}`, "--", path);
          expect([left, right, path, oidsOf(graph, nodes)]).toEqual([left, right, path, theirs]);
        }
      }
    });

    it("follows first parents in a range as git does", () => {
      for (const [left, right] of pairs.slice(0, 10)) {
        const range = { tips: [graph.find(left)], excluded: [graph.find(right)] };
        const ours = oidsOf(graph, logByTime(graph, { ...range, isFirstParent: true }));
        const theirs = revList("--first-parent", left, `^${right}`);
        expect([left, right, ours]).toEqual([left, right, theirs]);
      }
    });
  },
);
