import type { ByteText } from "../byte-text.ts";
import { readQuotedName } from "../quoted-name.ts";

/** A path without its first `count` directories; undefined if it has fewer directories. */
export function stripDirectories(path: string, count: number): string | undefined {
  let rest = path;
  for (let stripped = 0; stripped < count; stripped++) {
    const slash = rest.indexOf("/");
    if (slash < 0) return undefined;
    rest = rest.slice(slash + 1);
  }
  return rest;
}

export const isDevNull = (text: string): boolean => /^\/dev\/null(?:\s|$)/.test(text);

/** A time after a name, as `diff -u` writes it. */
const TIME = /[ \t](\d{4}-\d\d-\d\d)[ \t](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?[ \t]([+-]\d\d)(\d\d)\s*$/;

/**
 * The name on a header line, after its keyword.
 *
 * @param strip Number of leading directories to strip.
 * @param end What may follow the name.
 */
export function readName(
  text: string,
  strip: number,
  end: "nothing" | "tab" | "time",
): ByteText | undefined {
  const line = text.replace(/\n$/, "");
  const quoted = readQuotedName(line);
  const timeless = end === "time" ? line.replace(TIME, "") : line;
  const tab = end === "nothing" ? -1 : timeless.indexOf("\t");
  const plain = tab < 0 ? timeless : timeless.slice(0, tab);
  const name = stripDirectories(quoted ? quoted.name : plain, strip);
  // Consecutive slashes count as one.
  return (name?.replaceAll(/\/{2,}/g, "/") || undefined) as ByteText | undefined;
}

/**
 * True if the time after a name is 1970-01-01 00:00 UTC, which means that the file does not exist.
 */
export function isEpoch(text: string): boolean {
  const [, date, time, fraction = "0", hours, minutes] = TIME.exec(text) ?? [];
  return Number(fraction) === 0 && Date.parse(`${date}T${time}${hours}:${minutes}`) === 0;
}

/**
 * The name on both sides of a `diff --git` line; undefined if the sides differ.
 *
 * @param text The line after `diff --git `.
 */
export function readCommonName(text: string): ByteText | undefined {
  const line = text.replace(/\n$/, "");
  const first = readQuotedName(line);
  if (first) {
    const rest = first.rest.trimStart();
    const second = rest.startsWith('"') ? readQuotedName(rest)?.name : rest;
    const name = stripDirectories(first.name, 1);
    return second !== undefined && name !== undefined && stripDirectories(second, 1) === name
      ? (name as ByteText)
      : undefined;
  }
  const rest = stripDirectories(line, 1);
  if (rest === undefined) return undefined;
  const quote = rest.indexOf('"');
  if (quote >= 0) {
    const second = readQuotedName(rest.slice(quote));
    const name = second && stripDirectories(second.name, 1);
    const isSame = name !== undefined && rest.startsWith(name) && rest.length > name.length;
    return isSame && /^\s/.test(rest.slice(name.length)) && name.length < quote
      ? (name as ByteText)
      : undefined;
  }
  // The line is the name, a separator, a directory and the name again, so only one length fits.
  for (let length = rest.indexOf(" "); length > 0; length = rest.indexOf(" ", length + 1)) {
    const slash = rest.indexOf("/", length);
    if (slash < 0 || 2 * length >= rest.length) return undefined;
    if (slash !== rest.length - length - 1) continue;
    const name = rest.slice(0, length);
    if (rest.endsWith(name)) return name as ByteText;
  }
  return undefined;
}
