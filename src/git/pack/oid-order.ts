import { compareOidBytes, OID_BYTES } from "../oid.ts";

/**
 * Sorts entries 0 to `count` by raw id, and equal ids by entry.
 *
 * Cost: one native sort of numbers that combine the first four bytes of the id with the entry.
 */
export function sortByOid(oids: Uint8Array, count: number): Uint32Array {
  const entryBits = 32 - Math.clz32(count);
  const droppedBits = Math.max(0, entryBits + 32 - 53);
  const scale = 2 ** entryBits;
  const keys = new Float64Array(count);
  for (let entry = 0, at = 0; entry < count; entry++, at += OID_BYTES) {
    const prefix =
      ((oids[at] as number) << 24) |
      ((oids[at + 1] as number) << 16) |
      ((oids[at + 2] as number) << 8) |
      (oids[at + 3] as number);
    keys[entry] = (prefix >>> droppedBits) * scale + entry;
  }
  keys.sort();
  const order = new Uint32Array(count);
  let runStart = 0;
  let runPrefix = -1;
  for (let rank = 0; rank < count; rank++) {
    const key = keys[rank] as number;
    const prefix = Math.floor(key / scale);
    order[rank] = key - prefix * scale;
    if (prefix === runPrefix) continue;
    if (rank - runStart > 1) sortRun(oids, order.subarray(runStart, rank));
    runStart = rank;
    runPrefix = prefix;
  }
  if (count - runStart > 1) sortRun(oids, order.subarray(runStart));
  return order;
}

/** Sorts entries whose ids share a prefix. */
function sortRun(oids: Uint8Array, entries: Uint32Array): void {
  entries.sort((a, b) => compareOidBytes(oids, a * OID_BYTES, oids, b * OID_BYTES) || a - b);
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
