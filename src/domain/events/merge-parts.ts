import type { EventEntry } from "../../shapes/events/event.ts";

/** The last event of a stream that was read of each database, by its number; 0 where none is named. */
export type Positions = ReadonlyMap<number, number>;

/** The requested part of a stream. */
export interface Cursor {
  /** Only events after these. */
  readonly after: Positions;
  readonly size: number;
}

export interface EventSlice {
  readonly items: EventEntry[];
  /** The cursor of the next page. */
  readonly next: Positions;
}

/** The page of a stream in one database. */
export interface StreamPart {
  readonly shard: number;
  /** In the order of ids. */
  readonly items: readonly EventEntry[];
  /** The position where the page starts. */
  readonly after: number;
  /** The position behind all items, and behind what was examined if that is more. */
  readonly end: number;
  /** Whether others may follow though the page is not full. */
  readonly areMore: boolean;
}

/**
 * Merges the pages of several databases, oldest first; events of one database stay in their order. The position of each moves
 * past those of its events that are listed, so that the next page has the others.
 *
 * A page ends where that of a database does of which not all was examined, so that none of its events comes after later ones of others.
 */
export function mergeParts(parts: readonly StreamPart[], size: number): EventSlice {
  const taken = parts.map(() => 0);
  const items: EventEntry[] = [];
  while (items.length < size) {
    let from: number | undefined;
    let first: EventEntry | undefined;
    for (const [at, part] of parts.entries()) {
      const item = part.items[taken[at] ?? 0];
      if (item === undefined && part.areMore) return { items, next: positionsOf(parts, taken) };
      if (item && (first === undefined || item.event.createdAt < first.event.createdAt)) {
        [from, first] = [at, item];
      }
    }
    if (from === undefined || first === undefined) break;
    taken[from] = (taken[from] ?? 0) + 1;
    items.push(first);
  }
  return { items, next: positionsOf(parts, taken) };
}

function positionsOf(parts: readonly StreamPart[], taken: readonly number[]): Positions {
  return new Map(
    parts.map(({ shard, items, after, end }, at) => {
      const count = taken[at] ?? 0;
      if (count === items.length) return [shard, end];
      return [shard, items[count - 1]?.event.id ?? after];
    }),
  );
}
