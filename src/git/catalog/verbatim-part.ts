import type { Budget } from "../budget.ts";
import { OID_BYTES } from "../oid.ts";
import { resident } from "./block-pool.ts";
import type { LocationSet } from "./location-set.ts";
import type { ObjectLocation, PackCatalog } from "./pack-catalog.ts";

/** Objects that are left out of a pack read by block, at most: each costs a block. */
const LOOKED_UP_MAX = 1000;
/** Steps to look up an object that is left out, and to read a base. */
const STEPS = { home: 200, base: 1 } as const;

/** The entries at the front of a pack that can be sent byte for byte. */
export interface VerbatimPart {
  /** Where the first entry after them begins, in bytes. */
  readonly end: number;
  /** Whether these are all entries of the pack. */
  readonly isWhole: boolean;
  /** Whether the object at a position of the pack's index is one of them. */
  readonly holds: (position: number) => boolean;
}

/**
 * Finds the entries at the front of a pack that can be sent byte for byte: all of them are to be
 * sent, and the base of each delta is one of them, or available to the receiver.
 *
 * These are all entries of a pack of which each object is wanted, and those that were pushed of a
 * thin pack, which is completed by bases behind them. Distances to bases stay as they are.
 *
 * @param isAvailable Whether the receiver has an object, by its home, or gets it.
 * @returns Undefined if there are none, or less than half of the pack is to be sent.
 */
export async function findVerbatimPart(
  catalog: PackCatalog,
  pack: number,
  toPack: LocationSet,
  isAvailable: (home: ObjectLocation) => boolean,
  budget: Budget,
): Promise<VerbatimPart | undefined> {
  const opened = catalog.pack(pack);
  const capacity = toPack.capacity(pack);
  const missingCount = capacity - toPack.sizeOf(pack);
  if (missingCount === 0) {
    const end = opened.source.sizeBytes - OID_BYTES;
    return capacity > 0 ? { end, isWhole: true, holds: () => true } : undefined;
  }
  if (2 * missingCount > capacity || (catalog.isByBlock && missingCount > LOOKED_UP_MAX)) {
    return undefined;
  }
  const missing = Uint32Array.from(toPack.missingPositions(pack));
  const lost = new Set<number>();
  for (const position of missing) {
    const pausing = budget.pause(STEPS.home);
    if (pausing) await pausing;
    const find = (): ObjectLocation => catalog.home({ pack, position });
    if (!isAvailable(catalog.isByBlock ? await resident(find) : find())) lost.add(position);
  }
  if (opened.blocks) {
    // Positions are in the order of the pack. Which deltas have a lost base, only their rows say.
    if (lost.size > 0) return undefined;
    const first = { pack, position: missing[0] as number };
    const { start } = await resident(() => catalog.range(first));
    return { end: start, isWhole: false, holds: (position) => position < first.position };
  }
  const { idx, sidecar } = opened;
  let end = Number.POSITIVE_INFINITY;
  for (const position of missing) end = Math.min(end, idx.offset(position));
  if (lost.size > 0) {
    await budget.pause(STEPS.base * capacity);
    for (const [position, base] of sidecar.bases.entries()) {
      if (lost.has(base)) end = Math.min(end, idx.offset(position));
    }
  }
  return { end, isWhole: false, holds: (position) => idx.offset(position) < end };
}
