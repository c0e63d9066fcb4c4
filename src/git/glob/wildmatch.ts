import type { ByteText } from "../byte-text.ts";
import {
  type Accepts,
  anyCharacter,
  DIRECTORIES,
  type Glob,
  type GlobToken,
  literalToken,
  notSlash,
  SLASH,
} from "./match-glob.ts";

/** Number of bytes before the first special character. */
export function literalLength(pattern: ByteText): number {
  const at = pattern.search(/[*?[\\]/);
  return at < 0 ? pattern.length : at;
}

/**
 * Parses a pattern as git does for paths: `*` and `?` do not match slashes, and `**` between
 * slashes matches any number of directories.
 *
 * @returns Undefined for a pattern that matches nothing, with an unclosed bracket or a trailing
 *   backslash.
 * @see gitignore(5), "Pattern format"; git's wildmatch.c.
 */
export function parseWildmatch(pattern: ByteText): Glob | undefined {
  const tokens: GlobToken[] = [];
  for (let at = 0; at < pattern.length;) {
    const char = pattern.charAt(at);
    if (char === "*") {
      let end = at + 1;
      while (pattern.charAt(end) === "*") end++;
      const startsName = at === 0 || pattern.charAt(at - 1) === "/";
      const rest = pattern.slice(end, end + 2);
      const endsName = rest === "" || rest.startsWith("/") || rest === "\\/";
      const isWhole = end - at > 1 && startsName && endsName;
      const isAbove = isWhole && rest.startsWith("/");
      if (isAbove) tokens.push(DIRECTORIES);
      else tokens.push({ kind: "many", accepts: isWhole ? anyCharacter : notSlash });
      at = isAbove ? end + 1 : end;
    } else if (char === "[") {
      const set = parseBracket(pattern, at + 1);
      if (!set) return undefined;
      tokens.push({ kind: "one", accepts: set.accepts });
      at = set.end;
    } else if (char === "?") {
      tokens.push({ kind: "one", accepts: notSlash });
      at++;
    } else {
      if (char === "\\") at++;
      if (at === pattern.length) return undefined;
      tokens.push(literalToken(pattern.charCodeAt(at)));
      at++;
    }
  }
  return tokens;
}

/** Parses a bracket expression whose content starts at `start`. `end` is the index after it. */
function parseBracket(
  pattern: ByteText,
  start: number,
): { accepts: Accepts; end: number } | undefined {
  const accepted = new Uint8Array(256);
  let at = start;
  const isNegated = pattern.charAt(at) === "!" || pattern.charAt(at) === "^";
  if (isNegated) at++;
  /** The byte that may start a range; 0 for none. */
  let before = 0;
  // A leading `]` is a member of the set.
  for (let isFirst = true; isFirst || pattern.charAt(at) !== "]"; isFirst = false) {
    if (at >= pattern.length) return undefined;
    const char = pattern.charAt(at);
    const after = pattern.charAt(at + 1);
    if (char === "-" && before !== 0 && after !== "" && after !== "]") {
      at += after === "\\" ? 2 : 1;
      if (at >= pattern.length) return undefined;
      accepted.fill(1, before, Math.max(before, pattern.charCodeAt(at) + 1));
      before = 0;
      at++;
      continue;
    }
    if (char === "[" && after === ":") {
      const end = pattern.indexOf("]", at + 2);
      if (end < 0) return undefined;
      if (end > at + 2 && pattern.charAt(end - 1) === ":") {
        const members = CLASSES[pattern.slice(at + 2, end - 1)];
        if (!members) return undefined;
        for (let byte = 1; byte < 0x80; byte++) {
          if (members.test(String.fromCharCode(byte))) accepted[byte] = 1;
        }
        before = 0;
        at = end + 1;
        continue;
      }
    }
    if (char === "\\") at++;
    if (at >= pattern.length) return undefined;
    before = pattern.charCodeAt(at);
    accepted[before] = 1;
    at++;
  }
  const expected = isNegated ? 0 : 1;
  return { accepts: (byte) => byte !== SLASH && accepted[byte] === expected, end: at + 1 };
}

/** Character classes over ASCII, as in git's own tables. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // oxlint-disable-next-line no-control-regex -- the class is control characters
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\r]/,
  upper: /[A-Z]/,
  xdigit: /[A-Fa-f0-9]/,
};
