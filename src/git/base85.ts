import type { ByteText } from "./byte-text.ts";

/** The digits in the order of their values; the alphabet is git's own. */
const DIGITS =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

const VALUES = new Int8Array(256).fill(-1);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** Digits that encode a group of four bytes. */
const GROUP_DIGITS = 5;

/** Encodes each four bytes as five digits; the last group is padded with zeros. */
export function formatBase85(bytes: Uint8Array): ByteText {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    let group = 0;
    for (let byte = at; byte < at + 4; byte++) group = group * 256 + (bytes[byte] ?? 0);
    let digits = "";
    for (let digit = 0; digit < GROUP_DIGITS; digit++) {
      digits = DIGITS.charAt(group % 85) + digits;
      group = Math.floor(group / 85);
    }
    text += digits;
  }
  return text as ByteText;
}

/**
 * Reads `length` bytes from groups of five digits. The padding bytes of the last group are dropped.
 *
 * @returns Undefined if `text` is not base 85 or holds fewer than `length` bytes.
 */
export function parseBase85(text: ByteText, length: number): Uint8Array | undefined {
  if (text.length % GROUP_DIGITS !== 0 || length > (text.length / GROUP_DIGITS) * 4) {
    return undefined;
  }
  const bytes = new Uint8Array(length);
  let to = 0;
  for (let at = 0; at < text.length; at += GROUP_DIGITS) {
    let group = 0;
    for (let digit = 0; digit < GROUP_DIGITS; digit++) {
      const value = VALUES[text.charCodeAt(at + digit)] as number;
      if (value < 0) return undefined;
      group = group * 85 + value;
    }
    if (group > 0xffffffff) return undefined;
    for (let shift = 24; shift >= 0 && to < length; shift -= 8) bytes[to++] = group >>> shift;
  }
  return bytes;
}
