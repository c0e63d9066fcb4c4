import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { type RepositorySnapshot, findRef } from "./open-snapshot.ts";

/**
 * Whether a ref name clashes with an existing ref because one is a directory of the other (`a` and
 * `a/b`).
 *
 * @param leaving A ref that is about to be deleted, and is ignored.
 */
export function hasRefClash(
  snapshot: RepositorySnapshot,
  fullName: string,
  leaving?: string,
): boolean {
  const inside: ByteText = encodeText(`${fullName}/`);
  const left = leaving === undefined ? undefined : encodeText(leaving);
  if (snapshot.state.refs.some(({ name }) => name.startsWith(inside) && name !== left)) return true;
  const parts = fullName.split("/");
  return parts.some((_, length) => {
    const outer = parts.slice(0, length).join("/");
    return outer !== leaving && length > 1 && findRef(snapshot, outer) !== undefined;
  });
}
