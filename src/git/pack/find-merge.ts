/** How much larger than the next each pack is to be. */
const FACTOR = 2;

/** What one merge may come to: it ends within a job's time, and its tables fit memory. */
export const MERGE_LIMITS = { packBytes: 4 * 2 ** 30, objectCount: 400_000 };

/** As much of a pack as decides whether it is merged. */
interface PackSize {
  readonly packBytes: number;
  readonly objectCount: number;
}

/**
 * Which packs to merge so that each is at least twice as large as the next one: those from the
 * returned index to the last, undefined if that holds already.
 *
 * So n bytes lie in O(log n) packs, and each is copied O(log n) times whatever comes.
 *
 * @param packs Oldest first. Those with which a merge would exceed `limits` stay as they are.
 * @see git repack --geometric
 */
export function findMerge(
  packs: readonly PackSize[],
  limits: PackSize = MERGE_LIMITS,
): number | undefined {
  const bytes = (at: number): number => packs[at]?.packBytes ?? 0;
  let first = packs.length;
  for (let at = packs.length - 1; at > 0; at--) {
    if (bytes(at - 1) < FACTOR * bytes(at)) first = at - 1;
  }
  let total = sum(packs.slice(first));
  while (first > 0 && first < packs.length && bytes(first - 1) < FACTOR * total.packBytes) {
    first--;
    total = sum(packs.slice(first));
  }
  while (total.packBytes > limits.packBytes || total.objectCount > limits.objectCount) {
    first++;
    total = sum(packs.slice(first));
  }
  return packs.length - first >= 2 ? first : undefined;
}

function sum(packs: readonly PackSize[]): PackSize {
  return packs.reduce(
    (total, pack) => ({
      packBytes: total.packBytes + pack.packBytes,
      objectCount: total.objectCount + pack.objectCount,
    }),
    { packBytes: 0, objectCount: 0 },
  );
}
