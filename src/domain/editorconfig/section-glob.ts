/** What a part of a path may be. */
type Token =
  | { readonly kind: "char"; readonly char: string }
  /** One character, of those that are listed or of all others; never a slash. */
  | { readonly kind: "set"; readonly chars: ReadonlySet<string>; readonly isNegated: boolean }
  /** Any characters but slashes. */
  | { readonly kind: "name" }
  /** Any characters. */
  | { readonly kind: "all" }
  /** A slash, or two with any characters between. */
  | { readonly kind: "directories" }
  | { readonly kind: "number"; readonly min: number; readonly max: number }
  | { readonly kind: "either"; readonly choices: readonly (readonly Token[])[] };

/** The header of a section, ready to be matched. */
export type SectionGlob = readonly Token[];

/** Digits of a number that is compared. */
const DIGITS_MAX = 15;

/**
 * Reads the header of a section of an `.editorconfig`.
 *
 * @see https://spec.editorconfig.org, "Glob Expressions".
 */
export function parseSectionGlob(header: string): SectionGlob {
  const path = header.startsWith("/")
    ? header
    : header.includes("/")
      ? `/${header}`
      : `/**/${header}`;
  return new GlobParser(Array.from(path)).parse();
}

/**
 * Whether a path is what a section is about.
 *
 * SECURITY: headers are anybody's. All ways to match are followed at once, so that the cost is at
 * most the length of the header times that of the path.
 *
 * @param path From the directory of the file, beginning with a slash.
 */
export function matchSection(glob: SectionGlob, path: string): boolean {
  const chars = Array.from(path);
  const starts = new Uint8Array(chars.length + 1);
  starts[0] = 1;
  return follow(glob, chars, starts)[chars.length] === 1;
}

/** Where a match of the tokens may end, as 1 at its index, given where it may start. */
function follow(
  tokens: readonly Token[],
  chars: readonly string[],
  starts: Uint8Array,
): Uint8Array {
  let open = starts;
  for (const token of tokens) {
    if (!open.includes(1)) return open;
    open = step(token, chars, open);
  }
  return open;
}

function step(token: Token, chars: readonly string[], open: Uint8Array): Uint8Array {
  const next = new Uint8Array(open.length);
  if (token.kind === "either") {
    for (const choice of token.choices) {
      for (const [at, isEnd] of follow(choice, chars, open).entries()) if (isEnd) next[at] = 1;
    }
    return next;
  }
  let isWithin = false;
  for (let at = 0; at < open.length; at++) {
    const char = chars[at];
    const isStart = open[at] === 1;
    switch (token.kind) {
      case "char":
        if (isStart && char === token.char) next[at + 1] = 1;
        break;
      case "set":
        if (
          isStart &&
          char !== undefined &&
          char !== "/" &&
          token.chars.has(char) !== token.isNegated
        )
          next[at + 1] = 1;
        break;
      case "name":
      case "all":
        isWithin ||= isStart;
        if (isWithin) next[at] = 1;
        if (token.kind === "name" && char === "/") isWithin = false;
        break;
      case "directories":
        isWithin ||= isStart && char === "/";
        if (isWithin && char === "/") next[at + 1] = 1;
        break;
      case "number":
        if (isStart) findNumbers(token, chars, at, next);
        break;
      default:
        token satisfies never;
    }
  }
  return next;
}

/** Marks the ends of all numbers within bounds that start at `start`; one with needless zeros is none. */
function findNumbers(
  { min, max }: { min: number; max: number },
  chars: readonly string[],
  start: number,
  next: Uint8Array,
): void {
  const isSigned = chars[start] === "-" || chars[start] === "+";
  const first = start + (isSigned ? 1 : 0);
  for (let end = first + 1; end <= Math.min(chars.length, first + DIGITS_MAX); end++) {
    if (!/^\d$/.test(chars[end - 1] ?? "")) return;
    if (chars[first] === "0" && end > first + 1) return;
    const value = Number(chars.slice(start, end).join(""));
    if (value >= min && value <= max) next[end] = 1;
  }
}

class GlobParser {
  private readonly chars: readonly string[];
  /** Where braces come in pairs; else they stand for themselves. */
  private readonly hasBraces: boolean;
  private at = 0;

  constructor(chars: readonly string[]) {
    this.chars = chars;
    const count = (brace: string) =>
      chars.filter((char, at) => char === brace && chars[at - 1] !== "\\").length;
    this.hasBraces = count("{") === count("}");
  }

  parse(): Token[] {
    const tokens: Token[] = [];
    while (this.at < this.chars.length) tokens.push(...this.next());
    return tokens;
  }

  private next(): Token[] {
    const char = this.chars[this.at] as string;
    this.at++;
    if (char === "\\" && this.at < this.chars.length) return [this.literal(this.chars[this.at++])];
    if (char === "*") {
      if (this.chars[this.at] !== "*") return [{ kind: "name" }];
      this.at++;
      return [{ kind: "all" }];
    }
    if (char === "?") return [{ kind: "set", chars: new Set(), isNegated: true }];
    if (char === "[") return [this.set() ?? this.literal(char)];
    if (char === "{" && this.hasBraces) return this.braces();
    if (char === "/" && this.chars.slice(this.at, this.at + 3).join("") === "**/") {
      this.at += 3;
      return [{ kind: "directories" }];
    }
    return [this.literal(char)];
  }

  private literal(char = ""): Token {
    return { kind: "char", char };
  }

  /** A set whose bracket was read; undefined if it is not closed, or closed behind a slash. */
  private set(): Token | undefined {
    const chars = new Set<string>();
    const isNegated = this.chars[this.at] === "!";
    for (let at = this.at + (isNegated ? 1 : 0); at < this.chars.length; at++) {
      const char = this.chars[at] as string;
      if (char === "/") return undefined;
      if (char === "]" && chars.size > 0) {
        this.at = at + 1;
        return { kind: "set", chars, isNegated };
      }
      const last = this.chars[at + 2];
      if (this.chars[at + 1] === "-" && last !== undefined && last !== "]" && last !== "/") {
        addRange(chars, char, last);
        at += 2;
      } else {
        if (char === "\\") at++;
        chars.add(this.chars[at] ?? "");
      }
    }
    return undefined;
  }

  /** Choices or a range whose brace was read; one without a comma stands for itself. */
  private braces(): Token[] {
    const parts = this.splitBraces();
    if (!parts) return [this.literal("{")];
    const [first = [], ...others] = parts;
    if (others.length > 0) {
      return [{ kind: "either", choices: parts.map((part) => new GlobParser(part).parse()) }];
    }
    const [, min, max] = /^([+-]?\d{1,15})\.\.([+-]?\d{1,15})$/.exec(first.join("")) ?? [];
    if (min !== undefined) return [{ kind: "number", min: Number(min), max: Number(max) }];
    return [this.literal("{"), ...new GlobParser(first).parse(), this.literal("}")];
  }

  /** What stands between commas up to the brace that closes, which is read too. */
  private splitBraces(): string[][] | undefined {
    const parts: string[][] = [[]];
    let depth = 0;
    for (let at = this.at; at < this.chars.length; at++) {
      const char = this.chars[at] as string;
      const part = parts.at(-1) as string[];
      if (char === "}" && depth === 0) {
        this.at = at + 1;
        return parts;
      }
      if (char === "," && depth === 0) {
        parts.push([]);
        continue;
      }
      if (char === "{") depth++;
      if (char === "}") depth--;
      part.push(char);
      if (char === "\\" && at + 1 < this.chars.length) part.push(this.chars[++at] as string);
    }
    return undefined;
  }
}

/** Characters of a range at most: what is longer is none. */
const RANGE_MAX = 1000;

function addRange(chars: Set<string>, first: string, last: string): void {
  const [start = 0, end = 0] = [first.codePointAt(0), last.codePointAt(0)];
  for (let code = start; code <= Math.min(end, start + RANGE_MAX); code++) {
    chars.add(String.fromCodePoint(code));
  }
}
