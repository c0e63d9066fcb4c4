import { describe, expect, it } from "vitest";

import { runNow } from "../../../src/git/budget.ts";
import {
  BlockMissing,
  BlockPool,
  resident,
  TablesMissing,
} from "../../../src/git/catalog/block-pool.ts";
import { type OpenPack, PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import { writePack } from "../../../src/git/catalog/pack-writer.ts";
import { formatOid, oidBytes } from "../../../src/git/oid.ts";
import { OFS_DELTA } from "../../../src/git/pack/entry-header.ts";
import { readBlockLayout } from "../../../src/git/sidecar/block-tables.ts";
import { formatSidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { type FetchNeeds, planFetch } from "../../../src/git/walk/fetch-plan.ts";
import { ReachableObjects } from "../../../src/git/walk/reachable-objects.ts";
import { walkTree } from "../../../src/git/walk/tree-walk.ts";
import { openByBlock } from "../support/block-packs.ts";
import { codec } from "../support/codec.ts";
import { git, makeFixture } from "../support/git.ts";
import { indexByGit, scan } from "../support/packs.ts";
import { receivePushes } from "../support/pushes.ts";
import { makeRandom } from "../support/random.ts";

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const repository = makeFixture("random-history", "2", "200");
const tips = lines(git(repository, ["for-each-ref", "--format=%(objectname)", "refs/heads"]));
const packs = await receivePushes(repository, tips);
const oids = lines(
  git(repository, ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]),
);

interface Opened {
  readonly catalog: PackCatalog;
  readonly graph: CommitGraph;
  readonly objects: PackedObjects;
}

async function open(opened: readonly OpenPack[]): Promise<Opened> {
  const catalog = new PackCatalog(opened);
  const graph = await resident(() => new CommitGraph(catalog));
  return { catalog, graph, objects: new PackedObjects(catalog) };
}

/** The packs, of which those are read by block that a choice names. */
function mix(isByBlock: (pack: number) => boolean): Promise<Opened> {
  const pool = new BlockPool();
  return open(packs.map((pack, at) => (isByBlock(at) ? openByBlock(pack, pool) : pack)));
}

const whole = await open(packs);

const needsOf = (needs: Partial<FetchNeeds>): FetchNeeds => ({
  wantOids: tips,
  haveOids: [],
  clientShallowOids: [],
  cut: undefined,
  filter: undefined,
  tags: [],
  isThin: false,
  ...needs,
});

/** The ids of the objects that a fetch sends, sorted. */
async function planned({ catalog, graph, objects }: Opened, needs: FetchNeeds): Promise<string[]> {
  const { toPack } = await planFetch(graph, catalog, objects, needs);
  const found: string[] = [];
  for (const pack of catalog.packs.keys()) {
    for (const position of toPack.positions(pack)) {
      found.push(await resident(() => catalog.oid({ pack, position })));
    }
  }
  return found.toSorted();
}

async function written({ catalog, graph, objects }: Opened, needs: FetchNeeds): Promise<Buffer> {
  const { toPack, receiverHas } = await planFetch(graph, catalog, objects, needs);
  const options = { codec, takesOfsDelta: true, ...(receiverHas && { receiverHas }) };
  const pieces: Uint8Array[] = [];
  const writer = writePack(catalog, objects, toPack, options);
  for await (const piece of writer) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The number of objects that a pack has as deltas. */
function countDeltas(pack: Buffer): number {
  const { table } = scan(pack);
  return table.types.subarray(0, table.count).filter((type) => type >= OFS_DELTA).length;
}

describe.each([
  ["all packs", () => true],
  ["the oldest pack", (pack: number) => pack === 0],
  ["the packs but the oldest", (pack: number) => pack > 0],
  ["every second pack", (pack: number) => pack % 2 === 1],
])("where the tables of %s are read by block", (_name, isByBlock) => {
  it("every object is found with all that is known of it", async () => {
    const { catalog } = await mix(isByBlock);
    for (const oid of [...oids, "0".repeat(40), "f".repeat(40)]) {
      const location = await resident(() => catalog.find(oid));
      const expected = whole.catalog.find(oid);
      expect(location?.pack).toBe(expected?.pack);
      if (!location || !expected) continue;
      const { base, ...entry } = await resident(() => catalog.entry(location));
      const { base: otherBase, ...other } = whole.catalog.entry(expected);
      expect({ ...entry, location: oid }).toEqual({ ...other, location: oid });
      const baseOid = base && (await resident(() => catalog.oid(base)));
      expect(baseOid).toBe(otherBase && whole.catalog.oid(otherBase));
      expect(await resident(() => catalog.oid(location))).toBe(oid);
      expect(await resident(() => catalog.kind(location))).toBe(whole.catalog.kind(expected));
    }
    const found: (string | undefined)[] = [];
    for (const location of await catalog.findAll(oids.map((oid) => oidBytes(oid)))) {
      found.push(location && (await resident(() => catalog.oid(location))));
    }
    expect(found).toEqual(oids.map((oid) => (whole.catalog.find(oid) ? oid : undefined)));
  });

  it("the graph is the same, and needs no block for commits", async () => {
    const { catalog, graph } = await mix(isByBlock);
    expect(graph.count).toBe(whole.graph.count);
    for (const oid of lines(git(repository, ["rev-list", "--all"]))) {
      const node = graph.find(oid);
      const other = whole.graph.find(oid);
      expect(graph.oid(node)).toBe(oid);
      expect(catalog.find(oid)?.pack).toBe(whole.catalog.find(oid)?.pack);
      const parents = Array.from(graph.parents(node), (parent) => graph.oid(parent));
      expect(parents).toEqual(
        Array.from(whole.graph.parents(other), (parent) => whole.graph.oid(parent)),
      );
      expect(graph.times[node]).toBe(whole.graph.times[other]);
      expect(graph.generations[node]).toBe(whole.graph.generations[other]);
      expect(await resident(() => graph.rootOid(node))).toBe(whole.graph.rootOid(other));
      const list = (of: Opened): string[] => {
        const introduced: string[] = [];
        of.graph.visitIntroduced(other, (each) => introduced.push(of.catalog.oid(each)));
        return introduced;
      };
      const own = await resident(() => {
        const introduced: string[] = [];
        graph.visitIntroduced(node, (each) => introduced.push(catalog.oid(each)));
        return introduced;
      });
      expect(own).toEqual(list(whole));
    }
  });

  it("contents are read", async () => {
    const { objects } = await mix(isByBlock);
    for (const oid of oids) {
      expect(await objects.readObject(oid)).toEqual(await whole.objects.readObject(oid));
    }
  });

  it("a tree is walked", async () => {
    const walk = async ({ catalog, graph, objects }: Opened): Promise<string[]> => {
      const root = await resident(() => graph.root(graph.find(tips.at(-1) ?? "")));
      const seen: string[] = [];
      if (!root) throw new Error("no tree");
      await walkTree(catalog, objects, root, (location, depth) => {
        seen.push(`${catalog.oid(location)} ${depth}`);
        return true;
      });
      return seen.toSorted();
    };
    expect(await walk(await mix(isByBlock))).toEqual(await walk(whole));
  });

  it("the same objects are reached", async () => {
    const random = makeRandom(7);
    const refs = [random.pick(tips), random.pick(tips)].map((oid, at) => ({
      name: `refs/heads/${at}`,
      oid,
      peeledOid: null,
    }));
    const blocks = new ReachableObjects(await mix(isByBlock), refs);
    const reached = new Set(
      lines(
        git(repository, ["rev-list", "--objects", "--no-object-names", ...refs.map((r) => r.oid)]),
      ),
    );
    // Every fifth, since each that is not reached walks the whole history.
    for (const oid of oids.filter((_, at) => at % 5 === 0)) {
      const kind = reached.has(oid) ? git(repository, ["cat-file", "-t", oid]) : undefined;
      // A request may not ask about much removed history.
      const asked = kind === undefined ? new ReachableObjects(await mix(isByBlock), refs) : blocks;
      expect(await asked.find(oid), oid).toBe(kind);
    }
  });

  it.each([0, 1, 2])(
    "a fetch sends the same objects, as a pack that git accepts (%i)",
    async (have) => {
      const needs = needsOf({ haveOids: tips.slice(0, have) });
      const blocks = await mix(isByBlock);
      expect(await planned(blocks, needs)).toEqual(await planned(whole, needs));
      const pack = await written(blocks, needs);
      indexByGit(pack);
      expect(countDeltas(pack)).toBe(countDeltas(await written(whole, needs)));
    },
  );

  it("a thin fetch sends the same objects, with deltas against what the client has", async () => {
    const needs = needsOf({ haveOids: tips.slice(0, -1), isThin: true });
    const blocks = await mix(isByBlock);
    expect(await planned(blocks, needs)).toEqual(await planned(whole, needs));
    const deltas = countDeltas(await written(blocks, needs));
    expect(deltas).toBe(countDeltas(await written(whole, needs)));
  });
});

describe("a pack that is read by block", () => {
  it("has no whole tables", async () => {
    const { catalog } = await mix(() => true);
    expect(() => catalog.pack(0).idx).toThrow(TablesMissing);
    expect(() => catalog.pack(0).sidecar).toThrow(TablesMissing);
  });

  it("names the missing block, and reads it once for all that need it", async () => {
    const { catalog } = await mix(() => true);
    const blob = oids.find((oid) => git(repository, ["cat-file", "-t", oid]) === "blob") ?? "";
    const look = (): string =>
      formatOid(catalog.rawOid(catalog.find(blob) ?? { pack: 0, position: 0 }).bytes);
    expect(look).toThrow(BlockMissing);
    const found = await Promise.all([resident(look), resident(look)]);
    expect(found).toEqual([blob, blob]);
    expect(look()).toBe(blob);
  });

  it("finds an object whose neighbour's row was read without the block of its id", async () => {
    const catalog = new PackCatalog([openByBlock(packs[0] as OpenPack)]);
    const graph = await resident(() => new CommitGraph(catalog));
    const node = graph.find(oids.find((oid) => graph.find(oid) >= 0) ?? "");
    const root = await resident(() => graph.rootOid(node));
    const [tree = ""] = git(repository, ["ls-tree", "--format=%(objectname)", root ?? ""]).split(
      "\n",
    );
    const location = catalog.find(tree);
    expect(location && catalog.oid(location)).toBe(tree);
    expect(() => catalog.find("f".repeat(40))).toThrow(BlockMissing);
  });
});

describe("block tables", () => {
  it("are not found where a sidecar has none", () => {
    const bytes = runNow(formatSidecar((packs[0] as OpenPack).sidecar, codec));
    expect(readBlockLayout(bytes, bytes.length)).toBeUndefined();
    expect(readBlockLayout(bytes.subarray(0, 3), 3)).toBeUndefined();
  });
});
