import type { Steps } from "../budget.ts";
import { isBinary } from "./line-diff.ts";

/** Longest piece of content in bytes; a line feed ends a piece too. */
const PIECE_BYTES_MAX = 64;

/** Number of hash values, a prime. It also limits the number of pieces kept for any content. */
const HASH_COUNT = 107_927;

/** The maximum score. Git computes in these units and rounds to percent only for display. */
export const SCORE_MAX = 60_000;

/** Content summarized as the number of bytes in pieces of each hash. */
export interface Pieces {
  readonly sizeBytes: number;
  /** The distinct hashes of the pieces, in ascending order. */
  readonly hashes: Uint32Array;
  /** For each hash, the total bytes of its pieces. */
  readonly bytes: Uint32Array;
}

/** Bytes after which the cutting can be interrupted. */
const TURN_BYTES = 64 * 1024;

/**
 * Cuts content into lines, and lines into pieces.
 *
 * Pieces are identified by git's own weak hash, collisions included, so that scores are equal to
 * git's.
 *
 * Cost: one pass, and eight bytes for each distinct piece.
 */
export function* piecesInTurns(content: Uint8Array, stepsPerByte: number): Steps<Pieces> {
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
    if (at % TURN_BYTES === TURN_BYTES - 1) yield stepsPerByte * TURN_BYTES;
    const byte = content[at] as number;
    // Lines are equal whether they end in CRLF or LF.
    if (isText && byte === 0x0d && content[at + 1] === 0x0a) continue;
    const before = low;
    low = (((low << 7) ^ (high >>> 25)) + byte) | 0;
    high = (high << 7) ^ (before >>> 25);
    length++;
    if (length === PIECE_BYTES_MAX || byte === 0x0a) endPiece();
  }
  // Git before 2.44 ignored the last piece.
  if (length > 0) endPiece();
  const hashes = Uint32Array.from(bytesByHash.keys()).toSorted();
  const bytes = hashes.map((hash) => bytesByHash.get(hash) as number);
  return { sizeBytes: content.length, hashes, bytes };
}

/** The share of the larger content that also occurs in the smaller one, 0 to `SCORE_MAX`. */
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

/** True if two contents of these sizes cannot reach `scoreMin`, whatever their bytes. */
export function areSizesTooFar(a: number, b: number, scoreMin: number): boolean {
  const larger = Math.max(a, b);
  const difference = larger - Math.min(a, b);
  return larger * (SCORE_MAX - scoreMin) < difference * SCORE_MAX;
}
