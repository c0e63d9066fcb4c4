import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PackCatalog } from "../../../src/git/catalog/pack-catalog.ts";
import { writePack } from "../../../src/git/catalog/pack-writer.ts";
import { PackedObjects } from "../../../src/git/catalog/packed-objects.ts";
import type { LocationSet } from "../../../src/git/catalog/location-set.ts";
import { CommitGraph } from "../../../src/git/walk/commit-graph.ts";
import { type FetchNeeds, planFetch } from "../../../src/git/walk/fetch-plan.ts";
import {
  cutByDepth,
  cutByRange,
  cutRelative,
  type ShallowCut,
} from "../../../src/git/walk/shallow.ts";
import { parseFilterSpec } from "../../../src/git/wire/filter-spec.ts";
import { codec } from "../support/codec.ts";
import { git, makeDirectory, makeFixture } from "../support/git.ts";
import { makePack } from "../support/packs.ts";
import { gitReader, storePack } from "../support/sidecars.ts";
import { MemorySource } from "../support/sources.ts";

const repository = makeFixture("history");
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const revParse = (revision: string): string => git(repository, ["rev-parse", revision]);

// Two packs, the second thin, as in a repository after a push.
const catalog = await (async () => {
  const before = ["main~4"];
  const first = await storePack(
    makePack(repository, before, ["--delta-base-offset"]),
    gitReader(repository),
  );
  const rest = makePack(
    repository,
    ["--not", ...before],
    ["--all", "--thin", "--delta-base-offset"],
  );
  const second = await storePack(rest, gitReader(repository));
  return new PackCatalog(
    [first, second].map(({ idx, sidecar, pack }) => ({
      idx,
      sidecar,
      source: new MemorySource(pack),
    })),
  );
})();
const graph = new CommitGraph(catalog);
const packed = new PackedObjects(catalog);

// A clone by git requests include-tag, even with --no-tags.
const tags = ["v1", "nested"].map((name) => ({
  tagOid: revParse(name),
  peeledOid: revParse(`${name}^{}`),
}));

const plan = (needs: Partial<FetchNeeds>) =>
  planFetch(graph, catalog, packed, {
    wantOids: [revParse("main")],
    haveOids: [],
    clientShallowOids: [],
    cut: undefined,
    filter: undefined,
    tags: [],
    isThin: false,
    ...needs,
  });

function oidsOf(set: LocationSet): string[] {
  return catalog.packs
    .flatMap((_, pack) =>
      Array.from(set.positions(pack), (position) => catalog.oid({ pack, position })),
    )
    .toSorted();
}

const everything = (directory: string): string[] =>
  lines(
    git(directory, ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]),
  ).toSorted();

/**
 * A clone by git over its own protocol; the plan must select the objects that this clone receives.
 */
function clone(...options: string[]): string {
  const directory = join(makeDirectory(), "clone");
  git(repository, ["config", "uploadpack.allowFilter", "true"]);
  git(repository, ["config", "uploadpack.allowAnySHA1InWant", "true"]);
  const all = [
    "clone",
    "--quiet",
    "--bare",
    "--no-local",
    "--no-tags",
    "--single-branch",
    ...options,
  ];
  git(repository, [...all, `file://${repository}`, directory]);
  return directory;
}

describe("planFetch", () => {
  it("selects everything reachable from the branch for a clone", async () => {
    const { toPack } = await plan({ tags });
    expect(oidsOf(toPack)).toEqual(everything(clone()));
  });

  it("selects a wanted tag and everything reachable from it", async () => {
    const { toPack } = await plan({ wantOids: [revParse("nested")] });
    const listed = git(repository, ["rev-list", "--objects", "--no-object-names", "nested"]);
    expect(oidsOf(toPack)).toEqual(
      [...new Set([...lines(listed), revParse("nested"), revParse("v1")])].toSorted(),
    );
  });

  // Other servers were seen to send 900 to 10,000 objects for a fetch of one commit.
  it.each([
    ["main", "main~1"],
    ["main~1", "main~3"],
    ["left", "main~3"],
    ["right", "left"],
    ["main~4", "main~12"],
  ])("selects the objects git sends for %s to a client that has %s", async (want, have) => {
    const { toPack } = await plan({ wantOids: [revParse(want)], haveOids: [revParse(have)] });
    const listed = git(repository, [
      "rev-list",
      "--objects-edge-aggressive",
      "--no-object-names",
      want,
      `^${have}`,
    ]);
    expect(oidsOf(toPack)).toEqual(
      lines(listed)
        .filter((line) => !line.startsWith("-"))
        .toSorted(),
    );
  });

  it("lets a thin pack use delta bases that the client has", async () => {
    const { toPack, receiverHas } = await plan({ haveOids: [revParse("main~8")], isThin: true });
    const pieces: Uint8Array[] = [];
    const options = { codec, takesOfsDelta: true, ...(receiverHas ? { receiverHas } : {}) };
    for await (const piece of writePack(catalog, packed, toPack, options)) pieces.push(piece);
    const directory = join(makeDirectory(), "client");
    git(repository, [
      "clone",
      "--quiet",
      "--bare",
      "--no-local",
      `file://${repository}`,
      directory,
    ]);
    const output = git(directory, ["index-pack", "--fix-thin", "--stdin"], {
      input: Buffer.concat(pieces),
    });
    expect(output).toMatch(/^pack\t/);
  });

  it.each([1, 2, 3, 5, 100])("cuts a clone of depth %i where git does", async (depth) => {
    const cut = cutByDepth(graph, [graph.find(revParse("main"))], depth);
    const { toPack } = await plan({ cut, tags });
    const directory = clone(`--depth=${depth}`);
    expect(boundaryOf(cut)).toEqual(shallowOf(directory));
    expect(oidsOf(toPack)).toEqual(everything(directory));
  });

  it("cuts a clone since a given time where git does", async () => {
    const since = Number(git(repository, ["log", "-1", "--format=%ct", "main~4"]));
    const tip = revParse("left");
    const cut = cutByRange(graph, [graph.find(tip)], [], since);
    const { toPack } = await plan({ wantOids: [tip], cut, tags });
    const directory = clone(`--shallow-since=${since}`, "--branch=left");
    expect(boundaryOf(cut)).toEqual(shallowOf(directory));
    expect(oidsOf(toPack)).toEqual(everything(directory));
  });

  it("cuts a clone that excludes the history of a tag where git does", async () => {
    const tip = revParse("left");
    const cut = cutByRange(graph, [graph.find(tip)], [graph.find(revParse("v1^{}"))]);
    const { toPack } = await plan({ wantOids: [tip], cut, tags });
    const directory = clone("--shallow-exclude=v1", "--branch=left");
    expect(boundaryOf(cut)).toEqual(shallowOf(directory));
    expect(oidsOf(toPack)).toEqual(everything(directory));
  });

  it.each([
    "blob:none",
    "blob:limit=20",
    "tree:0",
    "tree:1",
    "tree:2",
    "combine:tree:3+blob:limit=100",
  ])("leaves out the objects that git leaves out of a clone with the filter %s", async (spec) => {
    const { toPack } = await plan({ filter: parseFilterSpec(spec), tags });
    const directory = clone(`--filter=${spec}`);
    expect(oidsOf(toPack)).toEqual(everything(directory));
  });

  it.each(["tree:0", "tree:1", "tree:2"])(
    "counts the depth of the filter %s from a wanted tree",
    async (spec) => {
      const treeOid = revParse("main:docs");
      const { toPack } = await plan({ wantOids: [treeOid], filter: parseFilterSpec(spec) });
      const args = ["rev-list", "--objects", "--no-object-names", `--filter=${spec}`, treeOid];
      expect(oidsOf(toPack)).toEqual(lines(git(repository, args)).toSorted());
    },
  );

  it("selects the objects that a shallow client lacks when it deepens", async () => {
    for (const [depth, args, cutTo] of [
      [1, ["--depth=3"], (tip: number) => cutByDepth(graph, [tip], 3)],
      [
        2,
        ["--deepen=2"],
        (tip: number, old: ReadonlySet<number>) => cutRelative(graph, [tip], old, 2),
      ],
      [1, ["--unshallow"], (tip: number) => cutByDepth(graph, [tip], 0x7fffffff)],
    ] as const) {
      const directory = clone(`--depth=${depth}`);
      const clientShallowOids = shallowOf(directory);
      const before = new Set(everything(directory));
      const tip = graph.find(revParse("main"));
      const cut = cutTo(tip, new Set(clientShallowOids.map((oid) => graph.find(oid))));
      const { toPack } = await plan({ haveOids: [revParse("main")], clientShallowOids, cut });
      git(directory, ["fetch", "--quiet", "--no-tags", ...args, "origin", "main"]);
      expect(boundaryOf(cut)).toEqual(shallowOf(directory));
      const sent = oidsOf(toPack);
      // Every new object is sent; some objects that the client already has may be sent too.
      expect(sent).toEqual(
        expect.arrayContaining(everything(directory).filter((oid) => !before.has(oid))),
      );
      expect(everything(directory)).toEqual(expect.arrayContaining(sent));
    }
  });

  it("includes a tag only if the object it points to is sent", async () => {
    const all = await plan({ tags });
    expect(oidsOf(all.toPack)).toEqual(expect.arrayContaining(tags.map(({ tagOid }) => tagOid)));
    const recent = await plan({ tags, haveOids: [revParse("main~1")] });
    for (const { tagOid } of tags) expect(oidsOf(recent.toPack)).not.toContain(tagOid);
  });

  it("refuses a want that does not exist as missing", async () => {
    await expect(plan({ wantOids: ["1".repeat(40)] })).rejects.toMatchObject({ code: "missing" });
  });
});

function boundaryOf(cut: ShallowCut): string[] {
  return Array.from(cut.boundary, (node) => graph.oid(node)).toSorted();
}

/** The boundary of a clone; empty if the clone is complete. */
function shallowOf(directory: string): string[] {
  const file = join(directory, "shallow");
  return existsSync(file) ? lines(readFileSync(file, "latin1")).toSorted() : [];
}
