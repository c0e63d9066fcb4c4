/** What one merge may come to: it ends within a job's time, and its tables fit memory. */
const MERGE_LIMITS = { packBytes: 4 * 2 ** 30, objectCount: 400_000 };

/** As much of a pack as decides whether it is merged. */
interface PackSize {
  readonly packBytes: number;
  readonly objectCount: number;
}

/**
 * The packs to merge so that each pack is at least twice as large as the next.
 *
 * Whoever merges so after every push has few packs, about the logarithm of their bytes, and writes
 * each byte about as many times: a pack that is merged comes out at least half as large again.
 *
 * @param packs Oldest first.
 * @param limits The largest pack to make. Packs that would exceed it are left alone, with all older
 * ones.
 * @returns From which pack on, undefined if nothing is to be merged.
 * @see git repack --geometric
 */
export function findMerge(
  packs: readonly PackSize[],
  limits: PackSize = MERGE_LIMITS,
): number | undefined {
  const last = packs.length - 1;
  let from = last;
  /** Of the packs behind `at`. */
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
