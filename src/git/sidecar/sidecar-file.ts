import type { Steps } from "../budget.ts";
import type { Codec } from "../codec.ts";
import { corrupt, GitError } from "../error.ts";
import { digestInParts } from "../object/hash-object.ts";
import { formatOid, OID_BYTES, oidBytes } from "../oid.ts";

const MAGIC = 0x45464753;
const VERSION = 1;
/** Magic, version and six counts, four bytes each; then the pack's checksum, padded. */
const HEADER_BYTES = 32 + 24;

/**
 * Data about a pack beyond git's index: enough to walk history and to compute the objects of a
 * fetch without reading any object.
 *
 * Objects are in index order, commits in ascending order of their position. A reference to an
 * object is its position in the index, or the number of objects plus a row of `outsideOids`.
 */
export interface Sidecar {
  /** Hash of the pack that the sidecar belongs to, in hex. */
  readonly packChecksum: string;
  /** Kind of each object, 1 to 4. */
  readonly kinds: Uint8Array;
  /** Inflated size of each object in bytes. */
  readonly sizes: Float64Array;
  /** Position of each delta's base, -1 for an object stored whole. */
  readonly bases: Int32Array;
  /** Raw ids, 20 bytes each, of objects in other packs that this pack refers to. */
  readonly outsideOids: Uint8Array;
  /** Position of each commit. */
  readonly commits: Uint32Array;
  /** Root tree of each commit. */
  readonly roots: Uint32Array;
  /** Committer time of each commit, in seconds since 1970. */
  readonly times: Float64Array;
  /**
   * Generation of each commit: one more than the highest generation of its parents, 1 without
   * parents.
   */
  readonly generations: Uint32Array;
  /** Start of each commit's parents in `parents`, followed by the end of the last ones. */
  readonly parentStarts: Uint32Array;
  readonly parents: Uint32Array;
  /**
   * Start of the objects that each commit introduces in `introduced`, followed by the end of the
   * last ones.
   */
  readonly introducedStarts: Uint32Array;
  readonly introduced: Uint32Array;
  /** Position and target of each annotated tag. */
  readonly tags: Uint32Array;
  readonly tagTargets: Uint32Array;
}

/** The tables of a sidecar without those that have an element for each object. */
export type HistoryTables = Omit<
  Sidecar,
  "kinds" | "sizes" | "bases" | "introduced" | "packChecksum"
>;

/** The numbers of elements from which the layout of a sidecar follows. */
export interface SidecarCounts {
  readonly objects: number;
  readonly outside: number;
  readonly commits: number;
  readonly parents: number;
  readonly introduced: number;
  readonly tags: number;
}

export const countsOf = (sidecar: Sidecar): SidecarCounts => ({
  objects: sidecar.kinds.length,
  outside: sidecar.outsideOids.length / OID_BYTES,
  commits: sidecar.commits.length,
  parents: sidecar.parents.length,
  introduced: sidecar.introduced.length,
  tags: sidecar.tags.length,
});

/** The length of a sidecar in bytes. */
export function sidecarLength(counts: SidecarCounts): number {
  const { objects, outside, commits, parents, introduced, tags } = counts;
  const sections = layout(objects, outside, commits, parents, introduced, tags);
  return sections.reduce((sum, [, size, length]) => sum + size * length, HEADER_BYTES) + OID_BYTES;
}

/** An array of the file: its field, its element size in bytes, and its length. */
type Section = readonly [name: keyof Sidecar, elementBytes: 1 | 4 | 8, length: number];

/**
 * Returns the layout, which depends only on the counts. Wide elements come first, so that all
 * arrays are aligned.
 */
function layout(
  objects: number,
  outside: number,
  commits: number,
  parents: number,
  introduced: number,
  tags: number,
): Section[] {
  return [
    ["sizes", 8, objects],
    ["times", 8, commits],
    ["bases", 4, objects],
    ["commits", 4, commits],
    ["roots", 4, commits],
    ["generations", 4, commits],
    ["parentStarts", 4, commits + 1],
    ["parents", 4, parents],
    ["introducedStarts", 4, commits + 1],
    ["introduced", 4, introduced],
    ["tags", 4, tags],
    ["tagTargets", 4, tags],
    ["kinds", 1, objects],
    ["outsideOids", 1, outside * OID_BYTES],
  ];
}

/**
 * Formats a sidecar: a header of counts, the arrays as they are in memory (little-endian), and a
 * SHA-1 of everything before.
 */
export function* formatSidecar(sidecar: Sidecar, codec: Codec): Steps<Uint8Array> {
  const counts = [
    sidecar.kinds.length,
    sidecar.outsideOids.length / OID_BYTES,
    sidecar.commits.length,
    sidecar.parents.length,
    sidecar.introduced.length,
    sidecar.tags.length,
  ] as const;
  const sections = layout(...counts);
  const bodyBytes = sections.reduce((sum, [, size, length]) => sum + size * length, HEADER_BYTES);
  const bytes = new Uint8Array(bodyBytes + OID_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint32(4, VERSION, true);
  for (const [index, count] of counts.entries()) view.setUint32(8 + 4 * index, count, true);
  bytes.set(oidBytes(sidecar.packChecksum), 32);
  let at = HEADER_BYTES;
  for (const [name, size, length] of sections) {
    const array = sidecar[name] as Uint8Array;
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, size * length), at);
    at += size * length;
  }
  bytes.set(yield* digestInParts(bytes.subarray(0, bodyBytes), codec), bodyBytes);
  return bytes;
}

/**
 * Parses a sidecar. Its arrays are views of `bytes` if those are aligned, and of one copy
 * otherwise.
 *
 * @throws GitError `unsupported` for another version, `corrupt` for a length or checksum that does
 * not match. A sidecar can be rebuilt from its pack.
 */
export function parseSidecar(bytes: Uint8Array, codec: Codec): Sidecar {
  if (bytes.length < HEADER_BYTES + OID_BYTES) throw corrupt("sidecar: cut off");
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.length);
  if (view.getUint32(0) !== MAGIC) throw corrupt("sidecar: no signature");
  const version = view.getUint32(4, true);
  if (version !== VERSION) throw new GitError("unsupported", `sidecar version ${version}`);
  const count = (index: number): number => view.getUint32(8 + 4 * index, true);
  const sections = layout(count(0), count(1), count(2), count(3), count(4), count(5));
  const bodyBytes = sections.reduce((sum, [, size, length]) => sum + size * length, HEADER_BYTES);
  if (aligned.length !== bodyBytes + OID_BYTES) throw corrupt("sidecar: of another length");
  const hash = codec.createSha1();
  hash.update(aligned.subarray(0, bodyBytes));
  if (formatOid(hash.digest()) !== formatOid(aligned, bodyBytes)) {
    throw corrupt("sidecar: checksum mismatch");
  }

  let at = aligned.byteOffset + HEADER_BYTES;
  const { buffer } = aligned;
  const bytesOf = (size: number, length: number): number => {
    const start = at;
    at += size * length;
    return start;
  };
  const u32 = (length: number): Uint32Array => new Uint32Array(buffer, bytesOf(4, length), length);
  const [objects, outside, commits, parents, introduced, tags] = [0, 1, 2, 3, 4, 5].map(count) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // In the order of `layout`.
  return {
    packChecksum: formatOid(aligned, 32),
    sizes: new Float64Array(buffer, bytesOf(8, objects), objects),
    times: new Float64Array(buffer, bytesOf(8, commits), commits),
    bases: new Int32Array(buffer, bytesOf(4, objects), objects),
    commits: u32(commits),
    roots: u32(commits),
    generations: u32(commits),
    parentStarts: u32(commits + 1),
    parents: u32(parents),
    introducedStarts: u32(commits + 1),
    introduced: u32(introduced),
    tags: u32(tags),
    tagTargets: u32(tags),
    kinds: new Uint8Array(buffer, bytesOf(1, objects), objects),
    outsideOids: new Uint8Array(buffer, bytesOf(1, outside * OID_BYTES), outside * OID_BYTES),
  };
}
