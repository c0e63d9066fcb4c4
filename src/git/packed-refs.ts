import { type ByteText, byteTextBytes, encodeText } from "./byte-text.ts";
import type { Oid } from "./oid.ts";

/** A ref as a packed-refs file stores it. */
interface PackedRef {
  readonly name: ByteText;
  readonly oid: Oid;
  /** For an annotated tag: the object it finally points to. Null for any other ref. */
  readonly peeledOid: Oid | null;
}

/**
 * The content of git's packed-refs file.
 *
 * @param refs Sorted by the bytes of their names.
 * @see git pack-refs
 */
export function formatPackedRefs(refs: readonly PackedRef[]): Uint8Array {
  const lines = refs.map(({ name, oid, peeledOid }) =>
    peeledOid === null ? `${oid} ${name}\n` : `${oid} ${name}\n^${peeledOid}\n`,
  );
  const header = encodeText("# pack-refs with: peeled fully-peeled sorted \n");
  return byteTextBytes(`${header}${lines.join("")}` as ByteText);
}
