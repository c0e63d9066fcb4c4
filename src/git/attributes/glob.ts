import type { ByteText } from "../byte-text.ts";

/** What one byte of a name, or a run of them, may be. */
type Token =
  /** One byte, of those whose element is 1; a slash is none of them. */
  | { readonly kind: "byte"; readonly accepted: Uint8Array }
  /** Any bytes but slashes. */
  | { readonly kind: "name" }
  /** Any bytes. */
  | { readonly kind: "all" }
  /** Any directories, each with its slash. */
  | { readonly kind: "directories" };

/** A pattern that is ready to be matched. */
export type Glob = readonly Token[];

const SLASH = 0x2f;

/** Bytes before the first that is not taken as it stands. */
export function literalLength(pattern: ByteText): number {
  const at = pattern.search(/[*?[\\]/);
  return at < 0 ? pattern.length : at;
}

/**
 * Reads a pattern as git does for paths: `*` and `?` stand for no slash, `**` between slashes for
 * any directories.
 *
 * @returns Undefined for one that matches nothing: a bracket without its end, or a lone backslash.
 * @see gitignore(5), "Pattern format"; git's wildmatch.c.
 */
export function parseGlob(pattern: ByteText): Glob | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length;) {
    const char = pattern.charAt(at);
    if (char === "*") {
      let end = at + 1;
      while (pattern.charAt(end) === "*") end++;
      const startsName = at === 0 || pattern.charAt(at - 1) === "/";
      const rest = pattern.slice(end, end + 2);
      const endsName = rest === "" || rest.startsWith("/") || rest === "\\/";
      if (end - at === 1 || !startsName || !endsName) tokens.push({ kind: "name" });
      else if (rest.startsWith("/")) tokens.push({ kind: "directories" });
      else tokens.push({ kind: "all" });
      at = tokens.at(-1)?.kind === "directories" ? end + 1 : end;
    } else if (char === "[") {
      const set = parseBracket(pattern, at + 1);
      if (!set) return undefined;
      tokens.push({ kind: "byte", accepted: set.accepted });
      at = set.end;
    } else if (char === "?") {
      const accepted = new Uint8Array(256).fill(1);
      accepted[SLASH] = 0;
      tokens.push({ kind: "byte", accepted });
      at++;
    } else {
      if (char === "\\") at++;
      if (at === pattern.length) return undefined;
      const accepted = new Uint8Array(256);
      accepted[pattern.charCodeAt(at)] = 1;
      tokens.push({ kind: "byte", accepted });
      at++;
    }
  }
  return tokens;
}

/**
 * Whether all of `text` is what the pattern says.
 *
 * SECURITY: patterns are anybody's. All ways to match are followed at once, so that the cost is at
 * most the length of the pattern times that of the text.
 */
export function matchGlob(glob: Glob, text: ByteText): boolean {
  if (!fitsEnd(glob, text)) return false;
  /** Tokens that may come next, as 1 at their index; behind the last is the end. */
  let open = new Uint8Array(glob.length + 1);
  let next = new Uint8Array(glob.length + 1);
  enter(glob, open, 0);
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at);
    let isOpen = false;
    for (const [index, token] of glob.entries()) {
      if (open[index] === 0) continue;
      if (token.kind === "byte") {
        if (token.accepted[byte] === 0) continue;
        enter(glob, next, index + 1);
      } else if (token.kind === "directories") {
        next[index] = 1;
        if (byte === SLASH) enter(glob, next, index + 1);
      } else {
        if (token.kind === "name" && byte === SLASH) continue;
        enter(glob, next, index);
      }
      isOpen = true;
    }
    if (!isOpen) return false;
    const old = open;
    open = next;
    next = old.fill(0);
  }
  return open[glob.length] === 1;
}

/** Whether the last bytes may be those that the pattern ends with: most texts are told apart so. */
function fitsEnd(glob: Glob, text: ByteText): boolean {
  for (let back = 1; back <= glob.length; back++) {
    const token = glob[glob.length - back];
    if (token?.kind !== "byte") return true;
    if (back > text.length || token.accepted[text.charCodeAt(text.length - back)] === 0)
      return false;
  }
  return true;
}

/** Opens a token, and those behind it if it may stand for nothing. */
function enter(glob: Glob, open: Uint8Array, index: number): void {
  for (let at = index; ; at++) {
    open[at] = 1;
    const kind = glob[at]?.kind;
    if (kind === undefined || kind === "byte") return;
  }
}

/** The set of a bracket whose content starts at `start`, and the index behind it. */
function parseBracket(
  pattern: ByteText,
  start: number,
): { accepted: Uint8Array; end: number } | undefined {
  const accepted = new Uint8Array(256);
  let at = start;
  const isNegated = pattern.charAt(at) === "!" || pattern.charAt(at) === "^";
  if (isNegated) at++;
  /** The byte that a range may start with, 0 for none. */
  let before = 0;
  // A bracket that stands first is in the set.
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
  if (isNegated) for (let byte = 0; byte < 256; byte++) accepted[byte] = 1 - (accepted[byte] ?? 0);
  accepted[SLASH] = 0;
  return { accepted, end: at + 1 };
}

/** Classes of ASCII as git's own tables have them. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // oxlint-disable-next-line no-control-regex -- they are what the class is
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
