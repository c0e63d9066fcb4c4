import { createCipheriv, createHash, type Hash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { deflateSync } from "node:zlib";

import { formatBaseDistance, formatEntryHeader } from "../../src/git/pack/entry-header.ts";
import { formatPackHeader } from "../../src/git/pack/pack-scanner.ts";

const [COMMIT, TREE, BLOB, OFS_DELTA, REF_DELTA] = [1, 2, 3, 6, 7];
const KIND_NAMES = ["", "commit", "tree", "blob"];
/** Longest chain of deltas. */
const DEPTH_MAX = 40;

/** A generator of incompressible bytes, the same in every run. */
export function makeNoise(): (bytes: number) => Buffer {
  const cipher = createCipheriv("aes-128-ctr", Buffer.alloc(16, 7), Buffer.alloc(16));
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}

/** A pack that is streamed to a file. */
export class PackFile {
  offset = 0;
  /** The trailing hash of the finished pack, in hex. */
  checksum = "";
  private readonly file: number;
  private readonly hash: Hash = createHash("sha1");
  private waiting: Uint8Array[] = [];
  private waitingBytes = 0;

  constructor(path: string, count: number) {
    this.file = openSync(path, "w");
    this.push(formatPackHeader(count));
  }

  push(bytes: Uint8Array): void {
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    this.offset += bytes.length;
    if (this.waitingBytes > 1024 * 1024) this.flush();
  }

  /** Ends the pack; returns its length in bytes. */
  finish(): number {
    this.flush();
    const digest = this.hash.digest();
    this.checksum = digest.toString("hex");
    writeSync(this.file, digest);
    closeSync(this.file);
    return this.offset + 20;
  }

  private flush(): void {
    const bytes = Buffer.concat(this.waiting);
    this.hash.update(bytes);
    writeSync(this.file, bytes);
    this.waiting = [];
    this.waitingBytes = 0;
  }
}

export function hashOf(kind: number, content: Uint8Array): Buffer {
  const hash = createHash("sha1");
  hash.update(`${KIND_NAMES[kind]} ${content.length}\0`);
  return hash.update(content).digest();
}

export const commitOf = (tree: Buffer, parent: Buffer | undefined, at: number): Buffer => {
  const who = `A <a@example.com> ${1_700_000_000 + at} +0000`;
  const parents = parent ? `parent ${parent.toString("hex")}\n` : "";
  return Buffer.from(
    `tree ${tree.toString("hex")}\n${parents}author ${who}\ncommitter ${who}\n\nchange ${at}\n`,
  );
};

/** Writes a pack of one commit with incompressible blobs. Returns the commit's id. */
export function writeBlobPack(path: string, blobSizes: readonly number[]): string {
  const pack = new PackFile(path, blobSizes.length + 2);
  const noise = makeNoise();
  const add = (kind: number, content: Buffer): Buffer => {
    pack.push(formatEntryHeader(kind, content.length));
    pack.push(deflateSync(content, { level: 0 }));
    return hashOf(kind, content);
  };
  const entries = blobSizes.map((size, at) => {
    const name = Buffer.from(`100644 f${String(at).padStart(4, "0")}\0`);
    return Buffer.concat([name, add(BLOB, noise(size))]);
  });
  const tree = add(TREE, Buffer.concat(entries));
  const oid = add(COMMIT, commitOf(tree, undefined, 0));
  pack.finish();
  return oid.toString("hex");
}

/** The current version of an object; its next version is a delta against it. */
interface Version {
  content: Buffer;
  oid: Buffer;
  /** Where it starts in the current pack; undefined if it is in an older pack. */
  offset: number | undefined;
  depth: number;
}

const sizeBytesOf = (size: number): number[] => {
  const bytes: number[] = [];
  for (let rest = size; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
};

/** Instructions that copy `length` bytes of the base, fewer than 65,536, from `start` on. */
const copyOf = (start: number, length: number): number[] =>
  length === 0 ? [] : [0xb3, start & 255, start >>> 8, length & 255, length >>> 8];

/** A delta that overwrites fewer than 128 bytes of the base at `at`. */
export const deltaOf = (base: Buffer, at: number, bytes: Buffer): Buffer =>
  Buffer.from([
    ...sizeBytesOf(base.length),
    ...sizeBytesOf(base.length),
    ...copyOf(0, at),
    bytes.length,
    ...bytes,
    ...copyOf(at + bytes.length, base.length - at - bytes.length),
  ]);

/**
 * A long history of small changes, written as a series of packs: each commit changes one
 * file and adds four objects, of which three are deltas.
 */
export class LargeHistory {
  private readonly noise = makeNoise();
  private readonly files: Version[][] = [];
  private readonly directories: Version[] = [];
  private root: Version | undefined;
  private commitOid: Buffer | undefined;
  private commits = 0;
  private state = 1;

  /** @param fileBytes Length of each file, fewer than 65,536. */
  constructor(directories: number, filesEach: number, fileBytes: number) {
    for (let at = 0; at < directories; at++) {
      const files = Array.from({ length: filesEach }, () =>
        this.versionOf(
          BLOB,
          Buffer.from(this.noise(fileBytes).toString("base64").slice(0, fileBytes)),
        ),
      );
      this.files.push(files);
      const rows = files.map(({ oid }, row) =>
        Buffer.concat([Buffer.from(`100644 f${String(row).padStart(3, "0")}\0`), oid]),
      );
      this.directories.push(this.versionOf(TREE, Buffer.concat(rows)));
    }
  }

  /**
   * Writes a pack of `count` more commits. The first pack also contains the initial files.
   *
   * @returns The last commit's id, and the number of objects in the pack.
   */
  writePack(path: string, count: number): { oid: string; objects: number } {
    const isFirst = this.root === undefined;
    for (const version of this.versions()) version.offset = undefined;
    const before = isFirst ? [...this.versions()].length : 0;
    const objects = before + 4 * count;
    const pack = new PackFile(path, objects);
    if (isFirst) {
      for (const file of this.files.flat()) this.writeWhole(pack, BLOB, file);
      for (const directory of this.directories) this.writeWhole(pack, TREE, directory);
    }
    for (let at = 0; at < count; at++) this.change(pack);
    pack.finish();
    return { oid: this.commitOid?.toString("hex") ?? "", objects };
  }

  private *versions(): Generator<Version> {
    yield* this.files.flat();
    yield* this.directories;
    if (this.root) yield this.root;
  }

  private change(pack: PackFile): void {
    const directoryAt = this.below(this.directories.length);
    const files = this.files[directoryAt] as Version[];
    const fileAt = this.below(files.length);
    const file = files[fileAt] as Version;
    const bytes = Buffer.from(this.noise(30).toString("base64"));
    this.edit(pack, BLOB, file, this.below(file.content.length - bytes.length), bytes);

    const directory = this.directories[directoryAt] as Version;
    this.edit(pack, TREE, directory, fileAt * 32 + 12, file.oid);
    if (this.root) {
      this.edit(pack, TREE, this.root, directoryAt * 31 + 11, directory.oid);
    } else {
      const rows = this.directories.map(({ oid }, row) =>
        Buffer.concat([Buffer.from(`40000 d${String(row).padStart(3, "0")}\0`), oid]),
      );
      this.root = this.versionOf(TREE, Buffer.concat(rows));
      this.writeWhole(pack, TREE, this.root);
    }
    const content = commitOf(this.root.oid, this.commitOid, this.commits++);
    const commit = this.versionOf(COMMIT, content);
    this.writeWhole(pack, COMMIT, commit);
    this.commitOid = commit.oid;
  }

  /**
   * Writes the next version of an object: a delta, or the full object once the chain is `DEPTH_MAX`
   * long.
   */
  private edit(pack: PackFile, kind: number, version: Version, at: number, bytes: Buffer): void {
    const { content, oid, offset, depth } = version;
    const delta = deltaOf(content, at, bytes);
    version.content = Buffer.from(content);
    bytes.copy(version.content, at);
    version.oid = hashOf(kind, version.content);
    if (depth === DEPTH_MAX) {
      this.writeWhole(pack, kind, version);
      return;
    }
    version.depth = depth + 1;
    version.offset = pack.offset;
    if (offset === undefined) {
      pack.push(formatEntryHeader(REF_DELTA, delta.length));
      pack.push(oid);
    } else {
      pack.push(formatEntryHeader(OFS_DELTA, delta.length));
      pack.push(formatBaseDistance(version.offset - offset));
    }
    pack.push(deflateSync(delta, { level: 1 }));
  }

  private writeWhole(pack: PackFile, kind: number, version: Version): void {
    version.depth = 0;
    version.offset = pack.offset;
    pack.push(formatEntryHeader(kind, version.content.length));
    pack.push(deflateSync(version.content, { level: 1 }));
  }

  private versionOf(kind: number, content: Buffer): Version {
    return { content, oid: hashOf(kind, content), offset: undefined, depth: 0 };
  }

  /** A pseudorandom number below `bound`, the same in every run. */
  private below(bound: number): number {
    this.state = Math.imul(this.state, 1_664_525) + 1_013_904_223;
    return Math.floor(((this.state >>> 0) / 2 ** 32) * bound);
  }
}
