import type { ByteText } from "../byte-text.ts";

/** A mode as patches show it. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, "0");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** Quotes a path as git does: in C style, if it contains special or non-ASCII bytes. */
export function quotePath(path: string): ByteText {
  let quoted = "";
  for (const char of path) {
    const code = char.charCodeAt(0);
    const isPlain = code >= 0x20 && code < 0x7f;
    quoted += ESCAPES[char] ?? (isPlain ? char : `\\${code.toString(8).padStart(3, "0")}`);
  }
  return (quoted === path ? path : `"${quoted}"`) as ByteText;
}
