import { corrupt } from "./error.ts";

/**
 * An object id: 40 lower-case hex digits. Variable names state the kind: `commitOid`, `treeOid`.
 */
export type Oid = string;

/** Bytes of a raw object id. */
export const OID_BYTES = 20;

/** The null id, which stands for "no object": the old value of a ref that is being created. */
export const NULL_OID: Oid = "0".repeat(40);

/** The empty tree. Git knows it even in a repository that does not store it. */
export const EMPTY_TREE_OID: Oid = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const HEX_PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The raw id that starts at `offset`, in hex. */
export function formatOid(bytes: Uint8Array, offset = 0): Oid {
  let text = "";
  for (let at = offset; at < offset + OID_BYTES; at++) text += HEX_PAIRS[bytes[at] as number];
  return text;
}

/** True for 40 lower-case hex digits, the form in which git always writes an id. */
export function isOid(text: string): text is Oid {
  return /^[0-9a-f]{40}$/.test(text);
}

/**
 * True for a text of the form in which ids are written, of SHA-1 or SHA-256. Git reads capitals
 * too.
 */
export const isWholeId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);

/**
 * Writes the 20 raw bytes of `oid` into `bytes`.
 *
 * @throws GitError `corrupt` if `oid` is not an object id.
 */
export function writeOid(oid: Oid, bytes: Uint8Array, offset = 0): void {
  if (!isOid(oid)) throw corrupt(`${JSON.stringify(oid)} is not an object id`);
  for (let at = 0; at < OID_BYTES; at++) {
    bytes[offset + at] = Number.parseInt(oid.slice(2 * at, 2 * at + 2), 16);
  }
}

/** The 20 raw bytes of `oid`. */
export function oidBytes(oid: Oid): Uint8Array {
  const bytes = new Uint8Array(OID_BYTES);
  writeOid(oid, bytes);
  return bytes;
}

/**
 * Compares the raw id at `a[aOffset]` with the raw id at `b[bOffset]`: negative, zero or positive.
 */
export function compareOidBytes(
  a: Uint8Array,
  aOffset: number,
  b: Uint8Array,
  bOffset: number,
): number {
  for (let at = 0; at < OID_BYTES; at++) {
    const difference = (a[aOffset + at] as number) - (b[bOffset + at] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
