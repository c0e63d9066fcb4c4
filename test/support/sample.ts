import { makeRandom } from "../git/support/random.ts";

/** Whether tests take every case (`npm run test:deep`); else they take a sample. */
export const TAKES_ALL = process.env["EDGEFORGE_TEST_ALL"] === "1";

/** The run's seed, which it prints. */
const SEED = process.env["EDGEFORGE_TEST_SEED"] ?? "0";

/** Chooses a number of cases: for a usual run, or for `npm run test:deep`. */
export const caseCount = (usual: number, deep: number): number => (TAKES_ALL ? deep : usual);

/**
 * Chooses `count` items of a list, in their order: others for each seed and each key. All of them
 * in `npm run test:deep`.
 *
 * @param key What the sample is for, so that two samples of a run differ.
 */
export function sampleOf<Item>(items: readonly Item[], count: number, key: string): Item[] {
  if (TAKES_ALL || items.length <= count) return [...items];
  const random = makeRandom(hashOf(`${SEED} ${key}`));
  const places = items.map((_, at) => ({ at, order: random.below(2 ** 32) }));
  const chosen = places.toSorted((one, other) => one.order - other.order).slice(0, count);
  const isChosen = new Set(chosen.map(({ at }) => at));
  return items.filter((_, at) => isChosen.has(at));
}

/** The numbers from 1 to `deep`, or a sample of `usual` of them: seeds of generated cases. */
export const seedsOf = (usual: number, deep: number, key: string): number[] =>
  sampleOf(
    Array.from({ length: deep }, (_, at) => at + 1),
    usual,
    key,
  );

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
