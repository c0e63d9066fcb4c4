/**
 * Upper bound on the bytes that one UTF-16 unit takes in JSON encoded as UTF-8. A control character
 * takes six; each half of a surrogate pair counts as three.
 */
function unitBytes(unit: number): number {
  if (unit < 0x20) return 6;
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}

/** Upper bound on the bytes of `text` as a JSON string, including its quotes. */
export function jsonBytes(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) bytes += unitBytes(text.charCodeAt(at));
  return bytes;
}

/** Truncates a text to at most `bytesMax` bytes as a JSON string. The result is well-formed. */
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
