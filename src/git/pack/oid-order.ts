import type { Steps } from "../budget.ts";
import { compareOidBytes, OID_BYTES } from "../oid.ts";

/** Bytes of an id by which entries are sorted first. */
const PREFIX_BYTES = 4;
/** Entries that the host sorts at once. */
const HOST_SORT_MAX = 16_384;
/**
 * Entries of one prefix that are compared with one another. More are divided by their bytes: ids
 * may be crafted, or all the same.
 */
const COMPARED_MAX = 1024;
/** Entries after which a pass over all of them yields. */
const PART_ENTRIES = 16_384;
/** Steps to sort an entry by the host, and to compare one with others. */
const STEPS_PER_ENTRY = 10;
const COMPARED_STEPS = 50;

/**
 * Sorts entries 0 to `count` by raw id, and equal ids by entry.
 *
 * Cost: a native sort of numbers that combine the first four bytes of the id with the entry, or for
 * many entries a pass for each of these bytes.
 */
export function* sortByOid(oids: Uint8Array, count: number): Steps<Uint32Array> {
  const order = count > HOST_SORT_MAX ? yield* divide(oids, count) : sortByHost(oids, count);
  if (count <= HOST_SORT_MAX) yield STEPS_PER_ENTRY * count;
  let runStart = 0;
  for (let rank = 1; rank <= count; rank++) {
    if (rank % PART_ENTRIES === 0) yield STEPS_PER_ENTRY * PART_ENTRIES;
    const isSame =
      rank < count && hasPrefix(oids, order[rank] as number, order[runStart] as number);
    if (isSame) continue;
    if (rank - runStart > 1) yield* sortRun(oids, order.subarray(runStart, rank));
    runStart = rank;
  }
  return order;
}

/** Whether two ids begin with the same bytes. */
function hasPrefix(oids: Uint8Array, left: number, right: number): boolean {
  for (let byte = 0; byte < PREFIX_BYTES; byte++) {
    if (oids[left * OID_BYTES + byte] !== oids[right * OID_BYTES + byte]) return false;
  }
  return true;
}

/** Sorts entries by the first four bytes of the id, and by entry. */
function sortByHost(oids: Uint8Array, count: number): Uint32Array {
  const entryBits = 32 - Math.clz32(count);
  const scale = 2 ** entryBits;
  const keys = new Float64Array(count);
  for (let entry = 0, at = 0; entry < count; entry++, at += OID_BYTES) {
    const prefix =
      ((oids[at] as number) << 24) |
      ((oids[at + 1] as number) << 16) |
      ((oids[at + 2] as number) << 8) |
      (oids[at + 3] as number);
    keys[entry] = (prefix >>> 0) * scale + entry;
  }
  keys.sort();
  return Uint32Array.from(keys, (key) => key % scale);
}

/**
 * The same for many entries, in parts: divides them by one byte after the other, the last one
 * first.
 */
function* divide(oids: Uint8Array, count: number): Steps<Uint32Array> {
  const order = new Uint32Array(count);
  for (let entry = 0; entry < count; entry++) order[entry] = entry;
  yield count;
  yield* divideBy(oids, order, PREFIX_BYTES - 1, 0);
  return order;
}

/**
 * Sorts entries by the bytes from `first` to `last` of their ids; entries with the same bytes keep
 * their order.
 */
function* divideBy(oids: Uint8Array, order: Uint32Array, last: number, first: number): Steps {
  let from: Uint32Array = order;
  let to: Uint32Array = new Uint32Array(order.length);
  for (let byte = last; byte >= first; byte--) {
    const starts = new Uint32Array(257);
    for (let rank = 0; rank < from.length; rank++) {
      if (rank % PART_ENTRIES === 0) yield PART_ENTRIES;
      const digit = oids[(from[rank] as number) * OID_BYTES + byte] as number;
      (starts[digit + 1] as number)++;
    }
    for (let digit = 0; digit < 256; digit++) {
      (starts[digit + 1] as number) += starts[digit] as number;
    }
    for (let rank = 0; rank < from.length; rank++) {
      if (rank % PART_ENTRIES === 0) yield PART_ENTRIES;
      const entry = from[rank] as number;
      const digit = oids[entry * OID_BYTES + byte] as number;
      to[starts[digit] as number] = entry;
      (starts[digit] as number)++;
    }
    [from, to] = [to, from];
  }
  if (from !== order) order.set(from);
}

/** Sorts entries whose ids share a prefix. */
function* sortRun(oids: Uint8Array, entries: Uint32Array): Steps {
  if (entries.length > COMPARED_MAX) {
    yield* divideBy(oids, entries, OID_BYTES - 1, PREFIX_BYTES);
    return;
  }
  entries.sort((a, b) => compareOidBytes(oids, a * OID_BYTES, oids, b * OID_BYTES) || a - b);
  yield COMPARED_STEPS * entries.length;
}

/**
 * Returns the entry with the raw id at `oid[offset..]`, by binary search in an order from
 * `sortByOid`; -1 if there is none.
 */
export function findOid(oids: Uint8Array, order: Uint32Array, oid: Uint8Array, offset = 0): number {
  let low = 0;
  let high = order.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const difference = compareOidBytes(oids, (order[middle] as number) * OID_BYTES, oid, offset);
    if (difference === 0) return order[middle] as number;
    if (difference < 0) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
