import { join } from "node:path";

import { runNow } from "../../src/git/budget.ts";
import { adler32 } from "../../src/git/hash/adler32.ts";
import { crc32 } from "../../src/git/hash/crc32.ts";
import { OID_BYTES } from "../../src/git/oid.ts";
import { formatBaseDistance, formatEntryHeader } from "../../src/git/pack/entry-header.ts";
import { formatIdx } from "../../src/git/pack/idx-file.ts";
import { sortByOid } from "../../src/git/pack/oid-order.ts";
import { PackTable } from "../../src/git/pack/pack-table.ts";
import type { Sidecar } from "../../src/git/sidecar/sidecar-file.ts";
import { formatSidecar } from "../../src/git/sidecar/sidecar-file.ts";
import { codec } from "../../src/storage/codec.ts";
import { commitOf, deltaOf, hashOf, PackFile } from "./large-packs.ts";

const [COMMIT, TREE, BLOB, OFS_DELTA] = [1, 2, 3, 6] as const;
/** The tree of a commit: directories of files. Each commit replaces all files of one directory. */
export const DIRECTORIES = 16;
export const FILES_EACH = 22;
/** Objects that a commit adds: its files, their directory, the root tree and itself. */
export const OBJECTS_EACH = FILES_EACH + 3;
const DEPTH_MAX = 20;

/** The files of a large pack, but for the pack itself, which is written to a path. */
export interface LargePack {
  readonly checksum: string;
  readonly packBytes: number;
  readonly objectCount: number;
  readonly idxBytes: Uint8Array;
  readonly sidecarBytes: Uint8Array;
  /** The last commits, the latest first. */
  readonly tips: readonly string[];
}

export const pathOf = (directory: number, file: number): string =>
  `d${String(directory).padStart(2, "0")}/f${String(file).padStart(2, "0")}`;

/** The content of a file as the commit of a number leaves it. */
export const contentOf = (commit: number, file: number): string =>
  `file ${file} of commit ${commit}\n`;

/** A stream of zlib without compression, for contents below 64 KB: it takes no time to make. */
function store(content: Uint8Array): Buffer {
  const stream = Buffer.alloc(content.length + 11);
  stream.writeUInt16BE(0x7801, 0);
  stream[2] = 1;
  stream.writeUInt16LE(content.length, 3);
  stream.writeUInt16LE(content.length ^ 0xffff, 5);
  stream.set(content, 7);
  stream.writeUInt32BE(adler32(content, 0, content.length, 1) >>> 0, content.length + 7);
  return stream;
}

/**
 * Writes a pack of a long linear history, with the tables that a push of it would have stored. Root
 * trees are deltas, in chains; everything else is stored whole.
 *
 * Git's own commands would take an hour for 5,000,000 objects; this takes some minutes.
 *
 * @param first The number of the first commit: packs of other numbers have only the empty tree in
 *   common.
 */
export function writeLargePack(directory: string, commitCount: number, first = 0): LargePack {
  const path = join(directory, "pack");
  const writer = new LargePackWriter(path, commitCount, first);
  for (let at = 0; at < commitCount; at++) writer.commit(at);
  return writer.finish();
}

interface Root {
  readonly content: Buffer;
  readonly entry: number;
  readonly depth: number;
}

class LargePackWriter {
  private readonly pack: PackFile;
  private readonly table = new PackTable();
  private readonly commitEntries: Uint32Array;
  private readonly directories: Buffer[] = [];
  private root: Root | undefined;
  private parent: Buffer | undefined;
  private readonly tips: string[] = [];
  private readonly first: number;

  constructor(path: string, commitCount: number, first: number) {
    this.first = first;
    // One more: until a directory has files, it is the empty tree.
    const count = commitCount * OBJECTS_EACH + 1;
    this.pack = new PackFile(path, count);
    this.table.expected = count;
    this.commitEntries = new Uint32Array(commitCount);
  }

  /** Writes a commit: the one at index `at` replaces the files of directory `at % DIRECTORIES`. */
  commit(at: number): void {
    if (at === 0) {
      const empty = this.add(TREE, Buffer.alloc(0));
      for (let each = 0; each < DIRECTORIES; each++) this.directories.push(empty.oid);
    }
    const files = Array.from({ length: FILES_EACH }, (_, file) => {
      const { oid } = this.add(BLOB, Buffer.from(contentOf(this.first + at, file)));
      return Buffer.concat([Buffer.from(`100644 ${pathOf(0, file).slice(4)}\0`), oid]);
    });
    const number = at % DIRECTORIES;
    this.directories[number] = this.add(TREE, Buffer.concat(files)).oid;
    const rows = this.directories.map((oid, each) =>
      Buffer.concat([Buffer.from(`40000 ${pathOf(each, 0).slice(0, 3)}\0`), oid]),
    );
    const rootOid = this.addRoot(Buffer.concat(rows), number);
    const commit = this.add(COMMIT, commitOf(rootOid, this.parent, this.first + at));
    this.commitEntries[at] = commit.entry;
    this.parent = commit.oid;
    this.tips.unshift(commit.oid.toString("hex"));
    if (this.tips.length > 100) this.tips.pop();
  }

  private addRoot(content: Buffer, changed: number): Buffer {
    const before = this.root;
    if (!before || before.depth === DEPTH_MAX) {
      const { oid, entry } = this.add(TREE, content);
      this.root = { content, entry, depth: 0 };
      return oid;
    }
    const rowBytes = content.length / DIRECTORIES;
    const at = changed * rowBytes + rowBytes - OID_BYTES;
    const delta = deltaOf(before.content, at, content.subarray(at, at + OID_BYTES));
    const distance = this.pack.offset - this.table.offset(before.entry);
    const front = [formatEntryHeader(OFS_DELTA, delta.length), formatBaseDistance(distance)];
    const { oid, entry } = this.write(TREE, content, [...front, store(delta)]);
    this.table.bases[entry] = before.entry;
    this.root = { content, entry, depth: before.depth + 1 };
    return oid;
  }

  private add(kind: number, content: Buffer): { oid: Buffer; entry: number } {
    const header = formatEntryHeader(kind, content.length);
    return this.write(kind, content, [header, store(content)]);
  }

  private write(
    kind: number,
    content: Buffer,
    pieces: readonly Uint8Array[],
  ): { oid: Buffer; entry: number } {
    const { table, pack } = this;
    const entry = table.add(kind, pack.offset, content.length);
    const oid = hashOf(kind, content);
    table.oids.set(oid, entry * OID_BYTES);
    let crc = 0;
    for (const piece of pieces) {
      crc = crc32(piece, 0, piece.length, crc);
      pack.push(piece);
    }
    table.crcs[entry] = crc;
    return { oid, entry };
  }

  finish(): LargePack {
    const { table, pack } = this;
    table.offsets[table.count] = pack.offset;
    const packBytes = pack.finish();
    const checksum = pack.checksum;
    return {
      checksum,
      packBytes,
      objectCount: table.count,
      idxBytes: runNow(formatIdx(table, checksum, codec)),
      sidecarBytes: runNow(formatSidecar(this.sidecar(checksum), codec)),
      tips: this.tips,
    };
  }

  /**
   * What `makeSidecar` makes of such a history: commit `at` introduces the entries since the commit
   * before.
   */
  private sidecar(checksum: string): Sidecar {
    const { table, commitEntries } = this;
    const { count } = table;
    const positions = new Uint32Array(count);
    for (const [position, entry] of runNow(sortByOid(table.oids, count)).entries())
      positions[entry] = position;
    const positionOf = (entry: number): number => positions[entry] as number;
    const sidecar = {
      kinds: new Uint8Array(count),
      sizes: new Float64Array(count),
      bases: new Int32Array(count),
    };
    for (let entry = 0; entry < count; entry++) {
      const base = table.bases[entry] as number;
      const position = positionOf(entry);
      sidecar.kinds[position] = table.kind(entry);
      sidecar.sizes[position] = table.sizes[entry] as number;
      sidecar.bases[position] = base < 0 ? -1 : positionOf(base);
    }
    const rows = commitEntries
      .map((_, at) => at)
      .toSorted(
        (a, b) => positionOf(commitEntries[a] as number) - positionOf(commitEntries[b] as number),
      );
    const commits = rows.length;
    const parentStarts = new Uint32Array(commits + 1);
    const introducedStarts = new Uint32Array(commits + 1);
    const introduced = new Uint32Array(count - commits);
    const parents = new Uint32Array(commits - 1);
    let [parentEnd, introducedEnd] = [0, 0];
    for (const [row, at] of rows.entries()) {
      if (at > 0) parents[parentEnd++] = positionOf(commitEntries[at - 1] as number);
      parentStarts[row + 1] = parentEnd;
      const first = at === 0 ? 0 : (commitEntries[at - 1] as number) + 1;
      for (let entry = first; entry < (commitEntries[at] as number); entry++) {
        introduced[introducedEnd++] = positionOf(entry);
      }
      introducedStarts[row + 1] = introducedEnd;
    }
    return {
      ...sidecar,
      packChecksum: checksum,
      outsideOids: new Uint8Array(0),
      commits: rows.map((at) => positionOf(commitEntries[at] as number)),
      roots: rows.map((at) => positionOf((commitEntries[at] as number) - 1)),
      times: Float64Array.from(rows, (at) => 1_700_000_000 + at),
      generations: rows.map((at) => at + 1),
      parentStarts,
      parents,
      introducedStarts,
      introduced,
      tags: new Uint32Array(0),
      tagTargets: new Uint32Array(0),
    };
  }
}
