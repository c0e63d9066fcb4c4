/** Formats `bytes` as lower-case hex, two digits per byte. */
export function formatHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** The bytes of hex digits, of which there is an even number. */
export const parseHex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

/** Whether `text` is a SHA-256 in lower-case hex, as `formatHex` writes it. */
export const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
