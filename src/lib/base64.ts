import { Buffer } from "node:buffer";

/** Encodes `bytes` as base64, without line breaks. */
export const formatBase64 = (bytes: Uint8Array): string => bufferOf(bytes).toString("base64");

/** Encodes `bytes` as base64url, without padding, for URLs and JSON Web Keys. */
export const formatBase64Url = (bytes: Uint8Array): string => bufferOf(bytes).toString("base64url");

/**
 * Decodes base64. Line breaks are ignored; padding is required.
 *
 * @returns Undefined if `text` is not base64.
 */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, "") : text;
  const isBase64 = digits.length % 4 === 0 && /^[0-9A-Za-z+/]*={0,2}$/.test(digits);
  return isBase64 ? bytesOf(digits, "base64") : undefined;
}

/**
 * Decodes base64 only if `text` is exactly what `formatBase64` writes, so no two texts decode to
 * the same bytes.
 */
export function parseCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = parseBase64(text);
  return bytes && formatBase64(bytes) === text ? bytes : undefined;
}

/**
 * Decodes base64 or base64url, with or without padding.
 *
 * @returns Undefined if `text` is neither.
 */
export function parseBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.replace(/={1,2}$/, "");
  const isBase64 = digits.length % 4 !== 1 && /^[0-9A-Za-z_+/-]*$/.test(digits);
  return isBase64 ? bytesOf(digits, "base64url") : undefined;
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Returns a plain `Uint8Array`, since methods of `Buffer` differ. The bytes are not copied. */
function bytesOf(text: string, encoding: "base64" | "base64url"): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, encoding);
  return new Uint8Array(buffer, byteOffset, byteLength);
}
