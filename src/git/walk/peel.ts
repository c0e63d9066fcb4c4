import { TAG } from "../object/kind.ts";
import { OID_BYTES } from "../oid.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";

/**
 * The target of the annotated tag at `location`; undefined if it is not a tag or the target is in no pack.
 */
export function tagTarget(
  catalog: PackCatalog,
  location: ObjectLocation,
): ObjectLocation | undefined {
  const { idx, sidecar } = catalog.pack(location.pack);
  const row = sidecar.tags.indexOf(location.position);
  const ref = row < 0 ? undefined : sidecar.tagTargets[row];
  if (ref === undefined) return undefined;
  if (ref < idx.count) return catalog.home({ pack: location.pack, position: ref });
  return catalog.findRaw(sidecar.outsideOids, (ref - idx.count) * OID_BYTES);
}

/** Follows a chain of tags to the first object that is not a tag; undefined if that object is in no pack. */
export function peel(catalog: PackCatalog, location: ObjectLocation): ObjectLocation | undefined {
  let at: ObjectLocation | undefined = location;
  while (at && catalog.kind(at) === TAG) at = tagTarget(catalog, at);
  return at;
}
