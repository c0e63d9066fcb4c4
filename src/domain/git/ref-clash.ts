import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { type RepositorySnapshot, findRef } from "./open-snapshot.ts";

/** True if a ref could not be called so, since another lies inside of it or it inside of another. */
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
