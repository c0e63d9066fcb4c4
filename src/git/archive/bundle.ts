import { type ByteText, byteTextBytes } from "../byte-text.ts";
import type { Oid } from "../oid.ts";

/** A ref that a bundle advertises. */
export interface BundleRef {
  readonly name: ByteText;
  readonly oid: Oid;
}

/**
 * The header of a bundle without prerequisites; the pack follows it.
 *
 * @see gitformat-bundle(5).
 */
export function formatBundleHeader(refs: readonly BundleRef[]): Uint8Array {
  const lines = refs.map(({ oid, name }) => `${oid} ${name}\n`);
  return byteTextBytes(`# v2 git bundle\n${lines.join("")}\n` as ByteText);
}
