import { isBinary } from "./line-diff.ts";

/** Longest piece that content is cut into, in bytes; lines end a piece too. */
const PIECE_BYTES_MAX = 64;

/** How many hashes there are: a prime, and with it a bound of what is kept of any content. */
const HASH_COUNT = 107_927;

/** A full score. Git counts in these units, and rounds to percent only to show them. */
export const SCORE_MAX = 60_000;

/** Content as the bytes that each of its pieces takes. */
export interface Pieces {
  readonly sizeBytes: number;
  /** Hashes of the pieces, each once, in ascending order. */
  readonly hashes: Uint32Array;
  /** Bytes of the pieces of each hash. */
  readonly bytes: Uint32Array;
}

/**
 * Cuts content into lines, and lines into pieces.
 *
 * Pieces are told apart by git's own weak hash: what it takes as the same counts as the same, so
 * that scores are equal.
 *
 * Cost: one pass, and eight bytes kept for each different piece.
 */
export function cutPieces(content: Uint8Array): Pieces {
  const bytesByHash = new Map<number, number>();
  const isText = !isBinary(content);
  let low = 0;
  let high = 0;
  let length = 0;
  const endPiece = (): void => {
    const hash = ((low + Math.imul(high, 0x61)) >>> 0) % HASH_COUNT;
    bytesByHash.set(hash, (bytesByHash.get(hash) ?? 0) + length);
    low = 0;
    high = 0;
    length = 0;
  };
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] as number;
    // A line is the same whichever way it ends.
    if (isText && byte === 0x0d && content[at + 1] === 0x0a) continue;
    const before = low;
    low = (((low << 7) ^ (high >>> 25)) + byte) | 0;
    high = (high << 7) ^ (before >>> 25);
    length++;
    if (length === PIECE_BYTES_MAX || byte === 0x0a) endPiece();
  }
  // Git before 2.44 left this out.
  if (length > 0) endPiece();
  const hashes = Uint32Array.from(bytesByHash.keys()).toSorted();
  const bytes = hashes.map((hash) => bytesByHash.get(hash) as number);
  return { sizeBytes: content.length, hashes, bytes };
}

/** How much of the larger of two contents comes from the other, of `SCORE_MAX`. */
export function scoreSimilarity(old: Pieces, fresh: Pieces): number {
  const larger = Math.max(old.sizeBytes, fresh.sizeBytes);
  if (larger === 0) return 0;
  let copied = 0;
  for (let left = 0, right = 0; left < old.hashes.length && right < fresh.hashes.length;) {
    const difference = (old.hashes[left] as number) - (fresh.hashes[right] as number);
    if (difference === 0) {
      copied += Math.min(old.bytes[left] as number, fresh.bytes[right] as number);
    }
    if (difference <= 0) left++;
    if (difference >= 0) right++;
  }
  return Math.floor((copied * SCORE_MAX) / larger);
}

/** True if two contents of these sizes cannot reach `scoreMin`, whatever they hold. */
export function areSizesTooFar(a: number, b: number, scoreMin: number): boolean {
  const larger = Math.max(a, b);
  const difference = larger - Math.min(a, b);
  return larger * (SCORE_MAX - scoreMin) < difference * SCORE_MAX;
}
