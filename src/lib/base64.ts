import { Buffer } from "node:buffer";

/** `bytes` in base64, without line breaks. */
export const formatBase64 = (bytes: Uint8Array): string => bufferOf(bytes).toString("base64");

/** `bytes` in the form of base64 for addresses and JSON Web Keys, without padding. */
export const formatBase64Url = (bytes: Uint8Array): string => bufferOf(bytes).toString("base64url");

/**
 * The bytes that a text in base64 stands for. Line breaks are passed over; the padding must be there.
 *
 * @returns Undefined for a text that is no base64.
 */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, "") : text;
  const isBase64 = digits.length % 4 === 0 && /^[0-9A-Za-z+/]*={0,2}$/.test(digits);
  return isBase64 ? bytesOf(digits, "base64") : undefined;
}

/** The same, only for a text that is just as `formatBase64` writes it: each text has bytes of its own. */
export function parseCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = parseBase64(text);
  return bytes && formatBase64(bytes) === text ? bytes : undefined;
}

/**
 * The bytes of a text in either form of base64, with or without its padding.
 *
 * @returns Undefined for a text that is neither.
 */
export function parseBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.replace(/={1,2}$/, "");
  const isBase64 = digits.length % 4 !== 1 && /^[0-9A-Za-z_+/-]*$/.test(digits);
  return isBase64 ? bytesOf(digits, "base64url") : undefined;
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** A plain array, since methods of `Buffer` differ; its bytes are not copied. */
function bytesOf(text: string, encoding: "base64" | "base64url"): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, encoding);
  return new Uint8Array(buffer, byteOffset, byteLength);
}
