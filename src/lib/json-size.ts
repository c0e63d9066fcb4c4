/**
 * Bytes of one UTF-16 unit of a text in JSON as UTF-8, at most: a control character is written in six,
 * half of a pair counts as three.
 */
function unitBytes(unit: number): number {
  if (unit < 0x20) return 6;
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}

/** Bytes of a text in JSON, at most, with its quotes. */
export function jsonBytes(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) bytes += unitBytes(text.charCodeAt(at));
  return bytes;
}

/** The beginning of a text, well-formed, that takes so many bytes in JSON at most. */
export function cutForJson(text: string, bytesMax: number): string {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) {
    bytes += unitBytes(text.charCodeAt(at));
    if (bytes > bytesMax)
      return text
        .slice(0, at)
        .replace(/[\ud800-\udbff]$/, "")
        .toWellFormed();
  }
  return text.toWellFormed();
}
