import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { type Code, findRef } from "./open-code.ts";

/** True if a ref could not be called so, since another lies inside of it or it inside of another. */
export function hasRefClash(code: Code, fullName: string, leaving?: string): boolean {
  const inside: ByteText = encodeText(`${fullName}/`);
  const left = leaving === undefined ? undefined : encodeText(leaving);
  if (code.snapshot.refs.some(({ name }) => name.startsWith(inside) && name !== left)) return true;
  const parts = fullName.split("/");
  return parts.some((_, length) => {
    const outer = parts.slice(0, length).join("/");
    return outer !== leaving && length > 1 && findRef(code, outer) !== undefined;
  });
}
