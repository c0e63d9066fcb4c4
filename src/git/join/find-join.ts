import { findMerge, MERGE_LIMITS, type PackSize } from "../pack/find-merge.ts";
import { PARTS_MAX } from "./join-plan.ts";

/**
 * Limits of a joined pack: it is written within a job's time and calls, and what is held of its
 * tables fits in memory.
 */
const JOIN_LIMITS: PackSize = { packBytes: 16 * 2 ** 30, objectCount: 6_000_000 };

/**
 * Selects the packs to join: those that are too large for `findMerge`, so that each is at least
 * twice as large as the next newer one.
 *
 * The newest packs that a merge may still take are left to it, so that a joined pack grows by large
 * steps: each byte is written anew about as many times as the logarithm of their sizes.
 *
 * @param packs Oldest first.
 * @param limits Size limits of the joined pack.
 * @param merged Size limits of a merged pack.
 * @returns The packs from index `from` to `to`, which is exclusive; undefined if there is nothing
 *   to join.
 */
export function findJoin(
  packs: readonly PackSize[],
  limits: PackSize = JOIN_LIMITS,
  merged: PackSize = MERGE_LIMITS,
): { from: number; to: number } | undefined {
  let to = packs.length;
  let [bytes, objects] = [0, 0];
  for (; to > 0; to--) {
    const { packBytes, objectCount } = packs[to - 1] as PackSize;
    bytes += packBytes;
    objects += objectCount;
    if (bytes > merged.packBytes || objects > merged.objectCount) break;
  }
  const large = packs.slice(0, to);
  const from = findMerge(large, limits);
  return from === undefined || to - from > PARTS_MAX ? undefined : { from, to };
}
