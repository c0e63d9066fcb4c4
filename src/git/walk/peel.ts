import { TAG } from "../object/kind.ts";
import { OID_BYTES } from "../oid.ts";
import {
  countObjects,
  historyOf,
  type ObjectLocation,
  type PackCatalog,
} from "../catalog/pack-catalog.ts";

/**
 * The target of the annotated tag at `location`; undefined if it is not a tag or the target is in
 * no pack.
 */
export function tagTarget(
  catalog: PackCatalog,
  location: ObjectLocation,
): ObjectLocation | undefined {
  const pack = catalog.pack(location.pack);
  const { tags, tagTargets, outsideOids } = historyOf(pack);
  const row = tags.indexOf(location.position);
  const ref = row < 0 ? undefined : tagTargets[row];
  if (ref === undefined) return undefined;
  const count = countObjects(pack);
  if (ref < count) return catalog.home({ pack: location.pack, position: ref });
  return catalog.findRaw(outsideOids, (ref - count) * OID_BYTES);
}

/**
 * Follows a chain of tags to the first object that is not a tag; undefined if that object is in no
 * pack.
 */
export function peel(catalog: PackCatalog, location: ObjectLocation): ObjectLocation | undefined {
  let at: ObjectLocation | undefined = location;
  while (at && catalog.kind(at) === TAG) at = tagTarget(catalog, at);
  return at;
}
