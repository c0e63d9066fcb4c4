/** Lower-case hex digits of `bytes`, two a byte. */
export function formatHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
