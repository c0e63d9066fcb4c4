import { describe, expect, it } from "vitest";
import { runNow, type Steps } from "../../../src/git/budget.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import { TREE } from "../../../src/git/object/kind.ts";
import { formatTree, MODE_FILE, MODE_TREE, type TreeEntry } from "../../../src/git/object/tree.ts";
import { type ByteText, encodeText } from "../../../src/git/byte-text.ts";
import { NULL_OID, OID_BYTES, writeOid } from "../../../src/git/oid.ts";
import { NO_ENTRY, PackTable } from "../../../src/git/pack/pack-table.ts";
import { isTreeLink, linkId } from "../../../src/git/sidecar/tree-links.ts";
import { PackInspector } from "../../../src/git/sidecar/pack-inspector.ts";
import { makeRandom } from "../support/random.ts";
import { STRICT_SEVERITIES } from "../support/severities.ts";

const OFS_DELTA = 6;
const oidOf = (number: number): string => number.toString(16).padStart(40, "a");

/** Passes trees to an inspector as the two passes over a pack do. */
class Trees {
  readonly table = new PackTable();
  readonly inspector = new PackInspector(this.table, STRICT_SEVERITIES);
  private readonly contents: Uint8Array[] = [];

  whole(content: Uint8Array): number {
    const entry = this.record(TREE, content);
    runNow(this.inspector.onWhole(entry, TREE, content) as Steps);
    return entry;
  }

  delta(content: Uint8Array, base: number): number {
    const entry = this.record(OFS_DELTA, content);
    const baseContent = this.contents[base] ?? new Uint8Array(0);
    runNow(this.inspector.onResolved(entry, TREE, content, base, baseContent) as Steps);
    return entry;
  }

  /** Returns the children of a tree as `<oid>`, or `<oid>/` for trees, sorted. */
  children(entry: number): string[] {
    const { pool, trees } = this.inspector;
    const links = runNow(trees.children(pool.add(this.table.oids, entry * OID_BYTES)));
    return Array.from(
      links,
      (link) => `${pool.oid(linkId(link))}${isTreeLink(link) ? "/" : ""}`,
    ).toSorted();
  }

  private record(type: number, content: Uint8Array): number {
    const entry = this.table.add(type, this.contents.length, content.length);
    this.table.kinds[entry] = TREE;
    this.table.bases[entry] = NO_ENTRY;
    writeOid(hashObject("tree", content), this.table.oids, entry * OID_BYTES);
    this.contents.push(content);
    return entry;
  }
}

const file = (name: string, oid: string, mode = MODE_FILE): TreeEntry => ({
  mode,
  name: encodeText(name),
  oid,
});
const findings = ({ inspector }: Trees): string[] =>
  [...inspector.findings.values()].flatMap(({ id, count }) =>
    Array.from({ length: count }, () => id),
  );

describe("PackInspector", () => {
  it("records the children of every tree, stored whole or as a delta", () => {
    const random = makeRandom(7);
    const trees = new Trees();
    const versions: TreeEntry[][] = [];
    const listed = (entries: TreeEntry[]): string[] =>
      entries.map(({ oid, mode }) => `${oid}${mode === MODE_TREE ? "/" : ""}`).toSorted();

    const names = Array.from({ length: 40 }, (_, at) => `name-${at}` as ByteText);
    for (let version = 0; version < 300; version++) {
      const base = versions.length === 0 ? -1 : random.below(versions.length);
      const entries = new Map((versions[base] ?? []).map((entry) => [entry.name, entry]));
      for (let change = 0; change <= random.below(4); change++) {
        const name = names[random.below(names.length)] as ByteText;
        if (random.below(5) === 0) entries.delete(name);
        // Few ids, so that one id occurs in a tree more than once.
        else
          entries.set(
            name,
            file(name, oidOf(random.below(30)), random.below(4) === 0 ? MODE_TREE : MODE_FILE),
          );
      }
      const content = formatTree([...entries.values()]);
      if (base < 0 || random.below(20) === 0) trees.whole(content);
      else trees.delta(content, base);
      versions.push([...entries.values()]);
    }

    expect(findings(trees)).toEqual([]);
    for (let step = 0; step < 600; step++) {
      const version = random.below(versions.length);
      expect(trees.children(version)).toEqual(listed(versions[version] ?? []));
    }
  });

  // A tree that differs from a sound tree only in ids is not fully checked, but its changed ids
  // are.
  it("finds a null id in a tree that differs only in ids", () => {
    const trees = new Trees();
    const base = trees.whole(formatTree([file("a", oidOf(1)), file("b", oidOf(2))]));
    trees.delta(formatTree([file("a", oidOf(1)), file("b", NULL_OID)]), base);
    expect(findings(trees)).toEqual(["nullSha1"]);
  });

  it("reports the findings of a tree again for a tree that differs only in ids", () => {
    const trees = new Trees();
    const odd = file("a", oidOf(1), 0o100640);
    const base = trees.whole(formatTree([odd, file("b", oidOf(2))]));
    trees.delta(formatTree([odd, file("b", oidOf(3))]), base);
    expect(findings(trees)).toEqual(["badFilemode", "badFilemode"]);
  });

  it("finds faults other than ids in a tree of the same size as its base", () => {
    const trees = new Trees();
    const base = trees.whole(formatTree([file("a", oidOf(1)), file("b", oidOf(2))]));
    const same = formatTree([file("a", oidOf(1)), file("a", oidOf(2))]);
    trees.delta(same, base);
    expect(findings(trees)).toEqual(["duplicateEntries"]);
  });

  it("checks every .gitmodules of a tree that differs only in ids", async () => {
    const trees = new Trees();
    const base = trees.whole(formatTree([file(".gitmodules", oidOf(1))]));
    trees.delta(formatTree([file(".gitmodules", oidOf(2))]), base);
    const readOids: string[] = [];
    await trees.inspector.checkSpecialBlobs({
      readObject: async (oid) => {
        readOids.push(oid);
        return { kind: "blob", content: new Uint8Array(0) };
      },
    });
    expect(readOids).toEqual([oidOf(1), oidOf(2)]);
  });

  // A search for each of the removed links would take the square of their number.
  it("records a tree that loses most of its entries, among them equal ones", () => {
    const trees = new Trees();
    const entries = Array.from({ length: 300 }, (_, at) => file(`n${1000 + at}`, oidOf(at % 100)));
    const base = trees.whole(formatTree(entries));
    const left = [...entries.slice(0, 20), file("z", oidOf(777))];
    const shrunk = trees.delta(formatTree(left), base);
    expect(trees.children(shrunk)).toEqual(left.map(({ oid }) => oid).toSorted());
    expect(trees.children(base)).toEqual(entries.map(({ oid }) => oid).toSorted());
  });

  it("lists the links of a tree that differs only in ids", () => {
    const trees = new Trees();
    const base = trees.whole(formatTree([file("a", oidOf(1)), file("b", oidOf(2), MODE_TREE)]));
    trees.delta(formatTree([file("a", oidOf(3)), file("b", oidOf(4), MODE_TREE)]), base);
    const links = runNow(trees.inspector.listOutsideLinks()).map(
      ({ oid, kind }) => `${kind} ${oid}`,
    );
    expect(links.toSorted()).toEqual([
      `blob ${oidOf(1)}`,
      `blob ${oidOf(3)}`,
      `tree ${oidOf(2)}`,
      `tree ${oidOf(4)}`,
    ]);
  });

  // Building the index refuses such a pack, but only later.
  it("terminates for a tree that is stored twice, as a difference from itself", () => {
    const trees = new Trees();
    const [a, b] = [1, 2].map((id) => formatTree([file("a", oidOf(id))]));
    const first = trees.whole(a as Uint8Array);
    const second = trees.delta(b as Uint8Array, first);
    const again = trees.delta(a as Uint8Array, second);
    expect(trees.children(again)).toEqual([oidOf(1)]);
    expect(trees.children(second)).toEqual([oidOf(2)]);
  });
});
