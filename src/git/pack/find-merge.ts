/** Limits of one merge: it finishes within a job's time, and its tables fit in memory. */
export const MERGE_LIMITS: PackSize = { packBytes: 4 * 2 ** 30, objectCount: 400_000 };

/** The sizes of a pack that decide whether it is merged. */
export interface PackSize {
  readonly packBytes: number;
  readonly objectCount: number;
}

/**
 * Selects the packs to merge so that each pack is at least twice as large as the next newer one.
 *
 * Merging this way after every push keeps the number of packs near the logarithm of their total
 * size, and writes each byte about as many times, because the result of a merge is at least half as
 * large again as any pack in it.
 *
 * @param packs Oldest first.
 * @param limits Size limits of the merged pack. A pack that would exceed them is not merged, nor
 * are all older ones.
 * @returns Index of the first pack to merge, undefined if there is nothing to merge.
 * @see git repack --geometric
 */
export function findMerge(
  packs: readonly PackSize[],
  limits: PackSize = MERGE_LIMITS,
): number | undefined {
  const last = packs.length - 1;
  let from = last;
  /** Totals of the packs newer than `at`. */
  let newerBytes = 0;
  let newerObjects = 0;
  for (let at = last; at >= 0; at--) {
    const { packBytes, objectCount } = packs[at] as PackSize;
    if (newerBytes + packBytes > limits.packBytes) break;
    if (newerObjects + objectCount > limits.objectCount) break;
    const next = at + 1 < from ? (packs[at + 1] as PackSize).packBytes : newerBytes;
    if (packBytes < 2 * next) from = at;
    newerBytes += packBytes;
    newerObjects += objectCount;
  }
  return from < last ? from : undefined;
}
