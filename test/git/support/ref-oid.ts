import { formatOid, type Oid, OID_BYTES } from "../../../src/git/oid.ts";
import type { IdxFile } from "../../../src/git/pack/idx-file.ts";
import type { Sidecar } from "../../../src/git/sidecar/sidecar-file.ts";

/**
 * The id of what a sidecar refers to: an object of its pack by its position, or one outside after
 * these.
 */
export function refOid(sidecar: Sidecar, idx: IdxFile, ref: number): Oid {
  const { count } = idx;
  return ref < count ? idx.oid(ref) : formatOid(sidecar.outsideOids, (ref - count) * OID_BYTES);
}
