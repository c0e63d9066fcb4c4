import { isBinary } from "./line-diff.ts";

/** Longest piece that content is cut into, in bytes; lines end a piece too. */
const PIECE_BYTES_MAX = 64;

/** A full score. Git counts in these units, and rounds to percent only to show them. */
export const SCORE_MAX = 60_000;

/** Content as the bytes that each of its pieces takes, by the piece's hash. */
export interface Pieces {
  readonly sizeBytes: number;
  readonly bytesByHash: ReadonlyMap<number, number>;
}

/** Cuts content into lines, and lines into pieces. Cost: one pass. */
export function cutPieces(content: Uint8Array): Pieces {
  const bytesByHash = new Map<number, number>();
  const isText = !isBinary(content);
  let hash = 0;
  let length = 0;
  for (let at = 0; at < content.length; at++) {
    const byte = content[at] as number;
    // A line is the same whichever way it ends.
    if (isText && byte === 0x0d && content[at + 1] === 0x0a) continue;
    hash = (Math.imul(hash ^ byte, 0x01000193) + length) | 0;
    length++;
    if (length < PIECE_BYTES_MAX && byte !== 0x0a) continue;
    bytesByHash.set(hash, (bytesByHash.get(hash) ?? 0) + length);
    hash = 0;
    length = 0;
  }
  if (length > 0) bytesByHash.set(hash, (bytesByHash.get(hash) ?? 0) + length);
  return { sizeBytes: content.length, bytesByHash };
}

/** How much of the larger of two contents comes from the other, of `SCORE_MAX`. */
export function scoreSimilarity(old: Pieces, fresh: Pieces): number {
  const larger = Math.max(old.sizeBytes, fresh.sizeBytes);
  if (larger === 0) return 0;
  let copied = 0;
  for (const [hash, bytes] of old.bytesByHash) {
    copied += Math.min(bytes, fresh.bytesByHash.get(hash) ?? 0);
  }
  return Math.floor((copied * SCORE_MAX) / larger);
}

/** True if two contents of these sizes cannot reach `scoreMin`, whatever they hold. */
export function areSizesTooFar(a: number, b: number, scoreMin: number): boolean {
  const larger = Math.max(a, b);
  const difference = larger - Math.min(a, b);
  return larger * (SCORE_MAX - scoreMin) < difference * SCORE_MAX;
}
