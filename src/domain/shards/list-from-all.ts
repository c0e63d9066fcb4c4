import type { Ctx } from "../../context.ts";
import type { Listed, Slice } from "../slice.ts";
import { inDatabase } from "./in-database.ts";
import type { AskedShards } from "./shards-of.ts";

/** How the items of several databases become one list. */
interface Merge<T, P> {
  /** Whether an item comes before another one in the order of the lists. */
  readonly isBefore: (one: T, other: T) => boolean;
  /** Whether the part of one database counts, beside those of the others; by default it does. */
  readonly isPart?: (part: P, all: readonly P[]) => boolean;
}

/** The contexts of the databases with repositories' own data: of the first one, and of shards. */
export const everywhere = (ctx: Ctx, asked?: AskedShards): Ctx[] => [
  inDatabase(ctx, 0),
  ...[...ctx.openShards().keys()]
    .filter((shard) => asked?.has(shard) ?? true)
    .map((shard) => inDatabase(ctx, shard)),
];

/**
 * Lists what is in the databases of all repositories. Each database returns its part of the list up to the end of the page, so
 * that the cost grows with the depth of the page and with the number of shards that are asked.
 *
 * Cost: one round trip of `list`, to all these databases at once.
 *
 * @param list Lists what is in one database.
 * @param asked The shards that may have items.
 */
export async function listFromAll<T, P extends Listed<T>>(
  ctx: Ctx,
  slice: Slice,
  list: (ctx: Ctx, slice: Slice) => Promise<P & Listed<T>>,
  merge: Merge<T, P>,
  asked?: AskedShards,
): Promise<Listed<T>> {
  const places = everywhere(ctx, asked);
  const [only] = places;
  if (only && places.length === 1) return list(only, slice);
  const { offset, size } = slice;
  const whole = { offset: 0, size: offset + size };
  const all = await Promise.all(places.map((place) => list(place, whole)));
  const { isPart = () => true } = merge;
  const parts = all.filter((part) => isPart(part, all));
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
  { isBefore }: Pick<Merge<T, never>, "isBefore">,
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
