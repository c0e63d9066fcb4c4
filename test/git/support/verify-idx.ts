import type { Codec } from "../../../src/git/codec.ts";
import { corrupt } from "../../../src/git/error.ts";
import { formatOid, OID_BYTES } from "../../../src/git/oid.ts";

/**
 * Checks the hash at the end of an `.idx`.
 *
 * @throws GitError `corrupt` if it does not match.
 */
export function verifyIdx(bytes: Uint8Array, codec: Codec): void {
  const hash = codec.createSha1();
  hash.update(bytes.subarray(0, bytes.length - OID_BYTES));
  if (formatOid(hash.digest()) !== formatOid(bytes, bytes.length - OID_BYTES)) {
    throw corrupt("idx: checksum mismatch");
  }
}
