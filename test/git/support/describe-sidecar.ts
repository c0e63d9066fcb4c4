import type { KeptPack } from "./pushes.ts";
import { refOid } from "./ref-oid.ts";

/** Describes a sidecar in ids, sorted where the order has no meaning. */
export function describeSidecar({ sidecar, idx }: Pick<KeptPack, "sidecar" | "idx">) {
  const oid = (ref: number): string => refOid(sidecar, idx, ref);
  const row = (starts: Uint32Array, refs: Uint32Array, at: number): string[] =>
    Array.from(refs.subarray(starts[at], starts[at + 1]), oid);
  const outside = Array.from({ length: sidecar.outsideOids.length / 20 }, (_, at) =>
    oid(idx.count + at),
  );
  return {
    objects: Array.from(sidecar.kinds, (kind, at) => [idx.oid(at), kind, sidecar.sizes[at]]),
    outside: outside.toSorted(),
    commits: Array.from(sidecar.commits, (position, at) => ({
      oid: oid(position),
      root: oid(sidecar.roots[at] ?? 0),
      time: sidecar.times[at],
      generation: sidecar.generations[at],
      parents: row(sidecar.parentStarts, sidecar.parents, at),
      introduced: row(sidecar.introducedStarts, sidecar.introduced, at).toSorted(),
    })),
    tags: Array.from(sidecar.tags, (position, at) => [
      oid(position),
      oid(sidecar.tagTargets[at] ?? 0),
    ]),
  };
}
