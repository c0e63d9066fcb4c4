import { describe, expect, it } from "vitest";
import { runNow } from "../../../src/git/budget.ts";
import { kindOf } from "../../../src/git/object/kind.ts";
import { OidPool } from "../../../src/git/sidecar/oid-pool.ts";
import { formatSidecar, parseSidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import { refOid } from "../support/ref-oid.ts";
import { codec } from "../support/codec.ts";
import { git, makeFixture } from "../support/git.ts";
import { makePack } from "../support/packs.ts";
import { makeRandom } from "../support/random.ts";
import { gitReader, type StoredPack, storePack } from "../support/sidecars.ts";

const repository = makeFixture("history");
const objects = gitReader(repository);
const fullHistory = await storePack(
  makePack(repository, [], ["--all", "--delta-base-offset"]),
  objects,
);

/** Returns the ids of the objects that a commit introduces. */
function introducedBy({ sidecar, idx }: StoredPack, commitOid: string): string[] {
  const row = [...sidecar.commits].findIndex((position) => idx.oid(position) === commitOid);
  const [start, end] = [sidecar.introducedStarts[row], sidecar.introducedStarts[row + 1]];
  return Array.from(sidecar.introduced.slice(start, end), (ref) => refOid(sidecar, idx, ref));
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Returns the trees and blobs reachable from `revisions`, by git. */
function reachedByGit(...revisions: string[]): string[] {
  const commits = new Set(lines(git(repository, ["rev-list", ...revisions])));
  return lines(git(repository, ["rev-list", "--objects", "--no-object-names", ...revisions]))
    .filter((oid) => !commits.has(oid))
    .toSorted();
}

describe("a sidecar", () => {
  it("records kinds and sizes as git reports them", () => {
    const { sidecar, idx } = fullHistory;
    const oids = Array.from({ length: idx.count }, (_, at) => idx.oid(at));
    const ours = oids.map(
      (oid, at) => `${oid} ${kindOf(sidecar.kinds[at] ?? 0)} ${sidecar.sizes[at]}`,
    );
    const input = `${oids.join("\n")}\n`;
    expect(ours).toEqual(lines(git(repository, ["cat-file", "--batch-check"], { input })));
  });

  it("records parents, root, time and generation of every commit", () => {
    const { sidecar, idx } = fullHistory;
    const generations = new Map<string, number>();
    for (const line of lines(
      git(repository, ["rev-list", "--all", "--topo-order", "--reverse", "--parents"]),
    )) {
      const [commitOid = "", ...parentOids] = line.split(" ");
      generations.set(
        commitOid,
        1 + Math.max(0, ...parentOids.map((oid) => generations.get(oid) ?? 0)),
      );
    }
    const ours = [...sidecar.commits].map((position, row) => {
      const parents = sidecar.parents.slice(
        sidecar.parentStarts[row],
        sidecar.parentStarts[row + 1],
      );
      const parentOids = [...parents].map((ref) => refOid(sidecar, idx, ref)).join(" ");
      const commitOid = idx.oid(position);
      expect(sidecar.generations[row]).toBe(generations.get(commitOid));
      return `${commitOid}|${parentOids}|${refOid(sidecar, idx, sidecar.roots[row] ?? 0)}|${sidecar.times[row]}`;
    });
    expect(ours.toSorted()).toEqual(
      lines(git(repository, ["log", "--all", "--format=%H|%P|%T|%ct"])).toSorted(),
    );
  });

  it("lists the objects that each commit introduces: all that its parents' trees lack, and only objects of its own tree", () => {
    for (const commitOid of lines(git(repository, ["rev-list", "--all"]))) {
      const parents = lines(git(repository, ["rev-parse", `${commitOid}^@`]));
      const introduced = introducedBy(fullHistory, commitOid);
      const trees = (oid: string): string[] =>
        lines(git(repository, ["rev-list", "--objects", "--no-object-names", "-1", oid])).slice(1);
      const before = new Set(parents.flatMap(trees));
      expect(new Set(introduced).size).toBe(introduced.length);
      expect(trees(commitOid)).toEqual(expect.arrayContaining(introduced));
      expect(introduced).toEqual(
        expect.arrayContaining(trees(commitOid).filter((oid) => !before.has(oid))),
      );
    }
  });

  it("covers the objects that git sends for a range of commits", () => {
    const ranges = [
      ["main"],
      ["left", "^main"],
      ["right", "^left"],
      ["main", "^main~3"],
      ["side", "^main~9"],
    ];
    for (const range of ranges) {
      const sum = new Set(
        lines(git(repository, ["rev-list", ...range])).flatMap((oid) =>
          introducedBy(fullHistory, oid),
        ),
      );
      expect([...sum]).toEqual(expect.arrayContaining(reachedByGit(...range)));
    }
  });

  it("of a push refers to objects outside of the pack", async () => {
    const thin = makePack(
      repository,
      ["main", "--not", "main~2"],
      ["--thin", "--delta-base-offset"],
    );
    const pushed = await storePack(thin, objects);
    const commitOids = lines(git(repository, ["rev-list", "main", "^main~2"]));
    expect([...pushed.sidecar.commits].map((at) => pushed.idx.oid(at)).toSorted()).toEqual(
      commitOids.toSorted(),
    );
    for (const commitOid of commitOids) {
      expect(introducedBy(pushed, commitOid).toSorted()).toEqual(
        introducedBy(fullHistory, commitOid).toSorted(),
      );
    }
    const outside = runNow(pushed.inspector.listOutsideLinks());
    const oid = git(repository, ["rev-parse", "main~2"]);
    expect(outside).toContainEqual(expect.objectContaining({ oid, kind: "commit" }));
  });

  it("is parsed as it was formatted", () => {
    const bytes = runNow(formatSidecar(fullHistory.sidecar, codec));
    expect(parseSidecar(bytes, codec)).toEqual(fullHistory.sidecar);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(parseSidecar(shifted.subarray(1), codec)).toEqual(fullHistory.sidecar);
  });

  it("is refused when damaged or of another version", () => {
    const bytes = runNow(formatSidecar(fullHistory.sidecar, codec));
    const corrupt = expect.objectContaining({ code: "corrupt" });
    expect(() => parseSidecar(bytes.subarray(0, -1), codec)).toThrow(corrupt);
    const damaged = bytes.slice();
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    expect(() => parseSidecar(damaged, codec)).toThrow(corrupt);
    damaged[4] = 2;
    expect(() => parseSidecar(damaged, codec)).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
  });
});

describe("links", () => {
  it("of a complete history all stay inside the pack", () => {
    expect(runNow(fullHistory.inspector.listOutsideLinks())).toEqual([]);
  });

  // A known fault of other servers: a push with a missing blob is accepted.
  it("to objects missing from the pack are listed", async () => {
    const bytes = makePack(repository, ["main"], ["--filter=blob:none"]);
    const { inspector } = await storePack(bytes, objects);
    const blobs = git(repository, [
      "rev-list",
      "--objects",
      "--filter=object:type=blob",
      "--filter-provided-objects",
      "--no-object-names",
      "main",
    ]);
    expect(
      runNow(inspector.listOutsideLinks())
        .map(({ oid }) => oid)
        .toSorted(),
    ).toEqual(lines(blobs).toSorted());
  });
});

it("assigns one number to each id", () => {
  const pool = new OidPool();
  const random = makeRandom(5);
  const oids = Array.from({ length: 5000 }, () => random.bytes(20));
  const ids = oids.map((oid) => pool.add(oid, 0));
  expect(ids).toEqual(oids.map((_, at) => at));
  expect(oids.map((oid) => pool.add(oid, 0))).toEqual(ids);
});
