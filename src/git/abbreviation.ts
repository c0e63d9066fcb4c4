import type { Oid } from "./oid.ts";
import { countObjects, type OpenPack, type PackCatalog } from "./catalog/pack-catalog.ts";
import { type CommitGraph, NO_NODE, type Node } from "./walk/commit-graph.ts";

const DIGITS_MIN = 7;

/**
 * The number of hex digits to which git abbreviates ids in a repository of `objectCount` objects.
 */
export function abbreviationDigits(objectCount: number): number {
  const bits = 32 - Math.clz32(objectCount);
  return Math.max(DIGITS_MIN, Math.ceil(bits / 2));
}

/**
 * How many objects a commit reaches; an object introduced on both sides of a merge counts twice.
 */
export function countReached(graph: CommitGraph, tip: Node): number {
  const seen = new Uint8Array(graph.count);
  const stack = [tip];
  let count = 0;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === NO_NODE || seen[node] === 1) continue;
    seen[node] = 1;
    count += 1 + graph.introducedCount(node);
    for (const parent of graph.parents(node)) stack.push(parent);
  }
  return count;
}

/**
 * The shortest prefix of an id that git accepts as unambiguous in a repository of these packs.
 * Throws `BlockMissing` for a block that is not in memory: see `resident`.
 */
export function abbreviate(catalog: PackCatalog, oid: Oid): string {
  const objectCount = catalog.packs.reduce((sum, pack) => sum + countObjects(pack), 0);
  let digits = abbreviationDigits(objectCount);
  const isAmbiguous = (prefix: string): boolean =>
    catalog.packs.some((pack) => hasOther(pack, prefix, oid));
  while (digits < oid.length && isAmbiguous(oid.slice(0, digits))) digits++;
  return oid.slice(0, digits);
}

/** Whether a pack has another object than `oid` whose id starts with a prefix. */
function hasOther(pack: OpenPack, prefix: string, oid: Oid): boolean {
  if (pack.blocks) return pack.blocks.hasOther(prefix, oid);
  const { idx } = pack;
  const { start, end } = idx.findPrefix(prefix);
  for (let at = start; at < end; at++) if (idx.oid(at) !== oid) return true;
  return false;
}
