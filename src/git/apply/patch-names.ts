import type { ByteText } from "../byte-text.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
};

/**
 * A name in quotes at the start of `text`, as git quotes those that hold odd bytes.
 *
 * @returns The name and what stands behind it; undefined for no such name.
 */
function unquote(text: string): { name: string; rest: string } | undefined {
  const [quoted] = /^"(?:[^"\\\n]|\\(?:[abfnrtv\\"]|[0-3][0-7]{2}))*"/.exec(text) ?? [];
  if (quoted === undefined) return undefined;
  const name = quoted
    .slice(1, -1)
    .replaceAll(/\\([0-3][0-7]{2}|.)/gs, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? ""),
    );
  return { name, rest: text.slice(quoted.length) };
}

/** A path without its first `count` directories; undefined if it has no more than these. */
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

/** A time behind a name, as `diff -u` writes it. */
const TIME = /[ \t](\d{4}-\d\d-\d\d)[ \t](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?[ \t]([+-]\d\d)(\d\d)\s*$/;

/**
 * The name on a line of a header, behind its word.
 *
 * @param strip Directories that do not belong to it.
 * @param end What may stand behind it.
 */
export function readName(
  text: string,
  strip: number,
  end: "nothing" | "tab" | "time",
): ByteText | undefined {
  const line = text.replace(/\n$/, "");
  const quoted = unquote(line);
  const timeless = end === "time" ? line.replace(TIME, "") : line;
  const tab = end === "nothing" ? -1 : timeless.indexOf("\t");
  const plain = tab < 0 ? timeless : timeless.slice(0, tab);
  const name = stripDirectories(quoted ? quoted.name : plain, strip);
  // Slashes that follow each other count as one.
  return (name?.replaceAll(/\/{2,}/g, "/") || undefined) as ByteText | undefined;
}

/** Whether the time behind a name is the beginning of all times: the file was not there. */
export function isEpoch(text: string): boolean {
  const [, date, time, fraction = "0", hours, minutes] = TIME.exec(text) ?? [];
  return Number(fraction) === 0 && Date.parse(`${date}T${time}${hours}:${minutes}`) === 0;
}

/**
 * The name that stands on both sides of a `diff --git` line, where it is the same on both.
 *
 * @param text The line behind `diff --git `.
 */
export function readCommonName(text: string): ByteText | undefined {
  const line = text.replace(/\n$/, "");
  const first = unquote(line);
  if (first) {
    const rest = first.rest.trimStart();
    const second = rest.startsWith('"') ? unquote(rest)?.name : rest;
    const name = stripDirectories(first.name, 1);
    return second !== undefined && name !== undefined && stripDirectories(second, 1) === name
      ? (name as ByteText)
      : undefined;
  }
  const rest = stripDirectories(line, 1);
  if (rest === undefined) return undefined;
  const quote = rest.indexOf('"');
  if (quote >= 0) {
    const second = unquote(rest.slice(quote));
    const name = second && stripDirectories(second.name, 1);
    const isSame = name !== undefined && rest.startsWith(name) && rest.length > name.length;
    return isSame && /^\s/.test(rest.slice(name.length)) && name.length < quote
      ? (name as ByteText)
      : undefined;
  }
  // The name twice, a separator and a directory between: only one length can be right.
  for (let length = rest.indexOf(" "); length > 0; length = rest.indexOf(" ", length + 1)) {
    const slash = rest.indexOf("/", length);
    if (slash < 0 || 2 * length >= rest.length) return undefined;
    if (slash !== rest.length - length - 1) continue;
    const name = rest.slice(0, length);
    if (rest.endsWith(name)) return name as ByteText;
  }
  return undefined;
}
