import type { ByteText } from "./byte-text.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "\\": "\\",
};

/**
 * Reads a quoted name at the start of a line. Git quotes names that contain special bytes.
 *
 * @returns The name and the rest of the line; undefined if the line does not start with a quoted
 *   name.
 * @see git-config(1), "core.quotePath"; git's quote.c.
 */
export function readQuotedName(line: string): { name: ByteText; rest: string } | undefined {
  if (!line.startsWith('"')) return undefined;
  let name = "";
  for (let at = 1; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '"') return { name: name as ByteText, rest: line.slice(at + 1) };
    if (char === "\n") return undefined;
    if (char !== "\\") {
      name += char;
      continue;
    }
    const [octal] = /^[0-3][0-7]{2}/.exec(line.slice(at + 1, at + 4)) ?? [];
    const plain = ESCAPES[line.charAt(at + 1)];
    if (octal === undefined && plain === undefined) return undefined;
    name += octal === undefined ? plain : String.fromCharCode(Number.parseInt(octal, 8));
    at += octal === undefined ? 1 : 3;
  }
  return undefined;
}
