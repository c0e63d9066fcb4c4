/** What a part of a text may be. */
type Token =
  /** One character, of those in the ranges or, where it is negated, of all others. */
  | { readonly kind: "char"; readonly ranges: readonly Range[]; readonly isNegated: boolean }
  /** Any characters but separators. */
  | { readonly kind: "run" }
  /** Any characters. */
  | { readonly kind: "all" }
  | { readonly kind: "either"; readonly choices: readonly (readonly Token[])[] };

type Range = readonly [first: string, last: string];

/** How many `*` and `**` a pattern may have, neighbours counted as one, and how deep its braces may nest. */
const STARS_MAX = 64;
const DEPTH_MAX = 10;

/** A pattern that is ready to be matched. */
export interface Glob {
  readonly tokens: readonly Token[];
  readonly separators: string;
}

/**
 * Reads a pattern: `*` and `?` stand for no separator, `**` for anything, `[a-z]` and `[!a-z]` for one
 * character, `{a,b}` for one of several, a backslash takes the next character as it is.
 *
 * @param separators The characters that `*` and `?` stop at.
 * @returns Undefined for what is no pattern: a bracket or brace without its end, an empty bracket, a
 * lone backslash, or more than 64 stars or 10 braces within each other.
 */
export function parseGlob(pattern: string, separators = ""): Glob | undefined {
  const parser = new GlobParser(Array.from(pattern), separators);
  const tokens = parser.parse("");
  return tokens && { tokens, separators };
}

/**
 * Whether a pattern stands for the whole of a text.
 *
 * SECURITY: patterns are anybody's. All ways to match are followed at once, so that the cost is at most
 * the length of the pattern times that of the text.
 */
export function matchGlob({ tokens, separators }: Glob, text: string): boolean {
  const chars = Array.from(text);
  const starts = new Uint8Array(chars.length + 1);
  starts[0] = 1;
  return follow(tokens, separators, chars, starts)[chars.length] === 1;
}

/** Where a match of the tokens may end, as 1 at its index, given where it may start. */
function follow(
  tokens: readonly Token[],
  separators: string,
  chars: readonly string[],
  starts: Uint8Array,
): Uint8Array {
  let open = starts;
  for (const token of tokens) {
    if (!open.includes(1)) return open;
    const next = new Uint8Array(open.length);
    if (token.kind === "either") {
      for (const choice of token.choices) {
        const ends = follow(choice, separators, chars, open);
        for (const [at, isEnd] of ends.entries()) if (isEnd) next[at] = 1;
      }
    } else step(token, separators, chars, open, next);
    open = next;
  }
  return open;
}

function step(
  token: Exclude<Token, { kind: "either" }>,
  separators: string,
  chars: readonly string[],
  open: Uint8Array,
  next: Uint8Array,
): void {
  let isWithin = false;
  for (let at = 0; at < open.length; at++) {
    const char = chars[at];
    if (token.kind === "char") {
      if (open[at] === 1 && char !== undefined && isAmong(token, char)) next[at + 1] = 1;
      continue;
    }
    isWithin ||= open[at] === 1;
    if (isWithin) next[at] = 1;
    if (token.kind === "run" && char !== undefined && separators.includes(char)) isWithin = false;
  }
}

const isStar = ({ kind }: Token): boolean => kind === "run" || kind === "all";

const isAmong = ({ ranges, isNegated }: Token & { kind: "char" }, char: string): boolean =>
  ranges.some(([first, last]) => codeOf(first) <= codeOf(char) && codeOf(char) <= codeOf(last)) !==
  isNegated;

const codeOf = (char: string): number => char.codePointAt(0) ?? 0;

class GlobParser {
  private readonly chars: readonly string[];
  private readonly separators: string;
  private at = 0;
  private stars = 0;
  private depth = 0;

  constructor(chars: readonly string[], separators: string) {
    this.chars = chars;
    this.separators = separators;
  }

  /** @param ends The characters that end this part, which are left to be read; "" for the whole. */
  parse(ends: string): Token[] | undefined {
    const tokens: Token[] = [];
    while (this.at < this.chars.length) {
      const char = this.chars[this.at] as string;
      if (ends.includes(char)) return tokens;
      this.at++;
      const token = this.next(char);
      if (!token) return undefined;
      if (isStar(token)) {
        // A `**` takes the stars beside it in: they stand for nothing that it does not.
        if (tokens.at(-1)?.kind === "all") continue;
        if (++this.stars > STARS_MAX) return undefined;
      }
      tokens.push(token);
    }
    return ends === "" ? tokens : undefined;
  }

  private next(char: string): Token | undefined {
    switch (char) {
      case "\\": {
        const literal = this.chars[this.at++];
        return literal === undefined ? undefined : oneOf([[literal, literal]]);
      }
      case "*":
        if (this.chars[this.at] !== "*") return { kind: "run" };
        this.at++;
        return { kind: "all" };
      case "?":
        return oneOf(
          Array.from(this.separators, (each) => [each, each]),
          true,
        );
      case "[":
        return this.set();
      case "{":
        return this.braces();
      default:
        return oneOf([[char, char]]);
    }
  }

  /** A set whose bracket was read. */
  private set(): Token | undefined {
    const isNegated = this.chars[this.at] === "!";
    if (isNegated) this.at++;
    const ranges: Range[] = [];
    while (this.chars[this.at] !== "]") {
      const first = this.setChar();
      if (first === undefined) return undefined;
      const isRange = this.chars[this.at] === "-" && this.chars[this.at + 1] !== "]";
      if (isRange) this.at++;
      const last = isRange ? this.setChar() : first;
      if (last === undefined) return undefined;
      ranges.push([first, last]);
    }
    this.at++;
    return ranges.length === 0 ? undefined : oneOf(ranges, isNegated);
  }

  private setChar(): string | undefined {
    if (this.chars[this.at] === "\\") this.at++;
    return this.chars[this.at++];
  }

  /** Choices whose brace was read. */
  private braces(): Token | undefined {
    if (++this.depth > DEPTH_MAX) return undefined;
    const choices: Token[][] = [];
    for (;;) {
      const choice = this.parse(",}");
      if (!choice) return undefined;
      choices.push(choice);
      if (this.chars[this.at++] === "}") {
        this.depth--;
        return { kind: "either", choices };
      }
    }
  }
}

const oneOf = (ranges: readonly Range[], isNegated = false): Token => ({
  kind: "char",
  ranges,
  isNegated,
});
