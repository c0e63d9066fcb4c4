import { Buffer } from "node:buffer";

/** `bytes` in base64, without line breaks. */
export const formatBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

/**
 * The bytes that a text in base64 stands for. Line breaks are passed over; the padding must be there.
 *
 * @returns Undefined for a text that is no base64.
 */
export function parseBase64(text: string): Uint8Array | undefined {
  const digits = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, "") : text;
  const isBase64 = digits.length % 4 === 0 && /^[0-9A-Za-z+/]*={0,2}$/.test(digits);
  return isBase64 ? Buffer.from(digits, "base64") : undefined;
}
