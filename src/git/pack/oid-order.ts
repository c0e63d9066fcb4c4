import { compareOidBytes, OID_BYTES } from "../oid.ts";

/** Entries 0 to `count` sorted by raw id. Cost: n log n, most comparisons on four bytes. */
export function sortByOid(oids: Uint8Array, count: number): Uint32Array {
  const prefixes = new Uint32Array(count);
  for (let entry = 0, at = 0; entry < count; entry++, at += OID_BYTES) {
    prefixes[entry] =
      ((oids[at] as number) << 24) |
      ((oids[at + 1] as number) << 16) |
      ((oids[at + 2] as number) << 8) |
      (oids[at + 3] as number);
  }
  const order = Uint32Array.from({ length: count }, (_, entry) => entry);
  return order.toSorted(
    (a, b) =>
      (prefixes[a] as number) - (prefixes[b] as number) ||
      compareOidBytes(oids, a * OID_BYTES, oids, b * OID_BYTES),
  );
}

/** Where `oid[offset..]` stands in an order made by `sortByOid`, -1 if nowhere. */
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
