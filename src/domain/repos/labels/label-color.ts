import { invalid } from "../../../lib/failure.ts";

/**
 * Reads a colour of three or six hex digits, with or without a number sign.
 *
 * @returns Six lower-case hex digits.
 * @throws Failure `invalid`.
 */
export function readLabelColor(text: string): string {
  const digits = /^\s*#?((?:[0-9a-f]{3}){1,2})\s*$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) throw invalid(`invalid color: ${text}`);
  return digits.length === 6 ? digits : digits.replaceAll(/./g, "$&$&");
}
