import { deflateRawSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ArchiveEntry } from "../../../src/git/archive/archive-entry.ts";
import { measureTree } from "../../../src/git/archive/measure-tree.ts";
import { formatTar } from "../../../src/git/archive/tar.ts";
import { formatZip } from "../../../src/git/archive/zip.ts";
import type { ByteText } from "../../../src/git/byte-text.ts";
import { compressor } from "../../../src/storage/compressor.ts";
import { git } from "../support/git.ts";
import { openHistory } from "../support/history.ts";
import { makeRandom } from "../support/random.ts";
import { archiveByGit, makeSampleTree, storeTrees } from "./histories.ts";
import { collect, openEntries } from "./open-entries.ts";
import { readZip } from "./read-zip.ts";

const random = makeRandom(11);
const { repository, oids } = storeTrees(Array.from({ length: 40 }, () => makeSampleTree(random)));
const history = await openHistory(repository);

/** The refs that point to a commit, as git shows them. */
const decorationsOf = (oid: string): string[] =>
  oid === oids.at(-1) ? ["HEAD -> main", "tag: v2", "tag: v1", "other"] : [];

/** Headers and contents of a tar file as text, to show differences. */
function listTar(tar: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < tar.length && tar[at] !== 0;) {
    const text = (from: number, to: number): string =>
      tar
        .subarray(at + from, at + to)
        .toString("latin1")
        .split("\0", 1)[0] ?? "";
    const size = Number.parseInt(text(124, 135), 8);
    const content = tar.subarray(at + 512, at + 512 + size).toString("latin1");
    lines.push([text(156, 157), text(100, 107), text(0, 100), text(345, 500), content].join(" "));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return lines;
}

/** An archive entry that is independent of a repository. */
function makeEntry(fields: Partial<ArchiveEntry>): ArchiveEntry {
  const path = "top/file" as ByteText;
  const content = Buffer.from("content");
  const sizeBytes = content.length;
  const isBinary = undefined;
  return { path, mode: 0o100644, oid: "1".repeat(40), sizeBytes, content, isBinary, ...fields };
}

const listOf = <T>(items: Iterable<T>): AsyncIterable<T> => ({
  async *[Symbol.asyncIterator]() {
    yield* items;
  },
});

describe("a tar file", () => {
  it("equals git's byte for byte, with any attributes", async () => {
    for (const oid of oids) {
      const { head, entries } = await openEntries(history, oid, decorationsOf(oid));
      const ours = await collect(formatTar(head, entries));
      const theirs = archiveByGit(repository, "tar", oid);
      const isSame = ours.equals(theirs);
      expect([oid, isSame || listTar(ours)]).toEqual([oid, isSame || listTar(theirs)]);
      expect(isSame).toBe(true);
    }
  });

  it("stores values that do not fit its fields in extended headers", async () => {
    const head = { commitOid: "2".repeat(40), timeSeconds: 2 ** 33 + 1 };
    const entry = makeEntry({ sizeBytes: 2 ** 33, content: listOf<Uint8Array>([]) });
    const tar = await collect(formatTar(head, listOf([entry])));
    expect(listTar(tar.subarray(0, 1024))).toEqual([
      `g 0000666 pax_global_header  52 comment=${head.commitOid}\n20 mtime=8589934593\n`,
    ]);
    expect(tar.subarray(1024 + 512, 1024 + 512 + 19).toString()).toBe("19 size=8589934592\n");
    expect(tar.subarray(2048 + 124, 2048 + 148).toString()).toBe(
      `${"0".repeat(11)}\x0077777777777\0`,
    );
  });
});

describe("a zip file", () => {
  it("has the same metadata and contents as git's, with any attributes", async () => {
    for (const oid of oids) {
      const { head, entries } = await openEntries(history, oid, decorationsOf(oid));
      const ours = readZip(await collect(formatZip(head, entries, compressor)));
      expect([oid, ours]).toEqual([oid, readZip(archiveByGit(repository, "zip", oid))]);
    }
  });

  it("interprets the modes of old trees as git does", async () => {
    const blob = git(repository, ["hash-object", "-w", "--stdin"], { input: "old" });
    const rows = ["100664 blob", "100775 blob", "100600 blob", "100700 blob", "120777 blob"];
    const input = rows.map((row, at) => `${row} ${blob}\tfile-${at}\n`).join("");
    const tree = git(repository, ["mktree"], { input });
    const oid = git(repository, ["commit-tree", "-m", "old", tree]);
    git(repository, ["update-ref", "refs/heads/old", oid]);
    const { head, entries } = await openEntries(await openHistory(repository), oid);
    const ours = readZip(await collect(formatZip(head, entries, compressor)));
    expect(ours).toEqual(readZip(archiveByGit(repository, "zip", oid)));
    expect(ours.entries.length).toBe(1 + rows.length);
  });

  it("streams a large file and records its sizes at the end", async () => {
    const pieces = [Buffer.alloc(100_000, 1), Buffer.from(random.bytes(50_000))];
    const content = listOf<Uint8Array>(pieces);
    const head = { commitOid: "2".repeat(40), timeSeconds: 1_700_000_000 };
    // An entry announced at the second size gets 64-bit fields, even though its content is small.
    for (const sizeBytes of [150_000, 2 ** 32 - 10]) {
      const entries = [makeEntry({ sizeBytes, content }), makeEntry({})];
      const zip = await collect(formatZip(head, listOf(entries), compressor));
      const [large, small] = readZip(zip).entries;
      expect(large?.content).toBe(Buffer.concat(pieces).toString("latin1"));
      expect(small?.content).toBe("content");
    }
  });

  it("can have more entries than a 16-bit count allows", async () => {
    const head = { commitOid: "2".repeat(40), timeSeconds: 1_700_000_000 };
    const quick = { ...compressor, deflateRaw: (bytes: Uint8Array) => bytes };
    const entries = Array.from({ length: 65_536 }, (_, at) =>
      makeEntry({ path: `${at}` as ByteText }),
    );
    const zip = readZip(await collect(formatZip(head, listOf(entries), quick)));
    expect(zip.entries.length).toBe(65_536);
    expect(zip.entries.at(-1)?.name).toBe("65535");
  });
});

describe("compression", () => {
  it("round-trips pieces of any size", async () => {
    const pieces = [1, 100_000, 0, 70_000].map((length) => Buffer.from(random.bytes(length)));
    const deflating = compressor.open("gzip");
    const compressed: Uint8Array[] = [];
    for (const piece of pieces) compressed.push(...(await deflating.push(piece)));
    compressed.push(...(await deflating.finish()));
    deflating.close();
    expect(gunzipSync(Buffer.concat(compressed)).equals(Buffer.concat(pieces))).toBe(true);
    const text = Buffer.from("text ".repeat(100));
    expect(Buffer.from(compressor.deflateRaw(text)).equals(deflateRawSync(text))).toBe(true);
  });
});

describe("measureTree", () => {
  it("counts the entries, content bytes and longest path of a tree", async () => {
    const oid = oids.at(-1) ?? "";
    const list = git(repository, ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", oid]).split(
      "\0",
    );
    const rows = list.filter((row) => row !== "");
    const sizes = rows.map((row) => Number(/^\S+ \S+ \S+ +(\S+)/.exec(row)?.[1]) || 0);
    const root = history.catalog.find(git(repository, ["rev-parse", `${oid}^{tree}`]));
    if (!root) throw new Error("no root");
    expect(await measureTree(history.catalog, history.objects, root)).toEqual({
      entryCount: rows.length,
      contentBytes: sizes.reduce((sum, size) => sum + size, 0),
      pathBytes: Math.max(...rows.map((row) => row.slice(row.indexOf("\t") + 1).length)),
    });
  });
});
