import type { Ctx } from "../../context.ts";
import type { Listed, Slice } from "../slice.ts";
import { inDatabase } from "./in-database.ts";

/** How the items of several databases become one list. */
interface Merge<T> {
  /** Whether an item comes before another one in the order of the lists. */
  readonly isBefore: (one: T, other: T) => boolean;
}

/** The context of each database with repositories' own data: of the first one, and of each shard. */
export const everywhere = (ctx: Ctx): Ctx[] => [
  inDatabase(ctx, 0),
  ...[...ctx.openShards().keys()].map((shard) => inDatabase(ctx, shard)),
];

/**
 * Lists what is in the databases of all repositories. Each database returns its part of the list up to the end of the page, so
 * that the cost grows with the depth of the page and with the number of shards.
 *
 * Cost: one round trip of `list`, to all databases at once.
 *
 * @param list Lists what is in one database.
 */
export async function listFromAll<T>(
  ctx: Ctx,
  slice: Slice,
  list: (ctx: Ctx, slice: Slice) => Promise<Listed<T>>,
  merge: Merge<T>,
): Promise<Listed<T>> {
  const places = everywhere(ctx);
  const [only] = places;
  if (only && places.length === 1) return list(only, slice);
  const { offset, size } = slice;
  const whole = { offset: 0, size: offset + size };
  const parts = await Promise.all(places.map((place) => list(place, whole)));
  const lists = parts.map(({ items }) => items);
  return {
    items: mergeSorted(lists, whole.size, merge).slice(offset),
    total: parts.reduce((sum, { total }) => sum + total, 0),
  };
}

/** The first items of sorted lists, in their order; of equal ones, those of the earlier list come first. */
function mergeSorted<T>(
  lists: readonly (readonly T[])[],
  size: number,
  { isBefore }: Merge<T>,
): T[] {
  const places = lists.map(() => 0);
  const merged: T[] = [];
  while (merged.length < size) {
    let from: number | undefined;
    let first: T | undefined;
    for (const [index, items] of lists.entries()) {
      const item = items[places[index] ?? 0];
      if (item === undefined) continue;
      if (first === undefined || isBefore(item, first)) [from, first] = [index, item];
    }
    if (from === undefined || first === undefined) break;
    places[from] = (places[from] ?? 0) + 1;
    merged.push(first);
  }
  return merged;
}
