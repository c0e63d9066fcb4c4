import {
  type Accepts,
  anyCharacter,
  type Glob,
  type GlobToken,
  literalToken,
} from "./match-glob.ts";

/**
 * Most `*` and `**` in a pattern, adjacent ones counted as one, and the deepest nesting of its
 * braces.
 */
const STARS_MAX = 64;
const DEPTH_MAX = 10;

/**
 * Parses a branch pattern in the syntax of Gitea's branch filters: `*` and `?` match no separator,
 * `**` matches anything, `[a-z]` and `[!a-z]` match one character, `{a,b}` matches one of several
 * alternatives, and a backslash escapes the next character.
 *
 * @param separators The characters that `*` and `?` do not match.
 * @returns Undefined for an invalid pattern: an unclosed bracket or brace, an empty bracket, a
 * trailing backslash, more than 64 stars, or braces nested more than 10 deep.
 */
export function parseBranchGlob(pattern: string, separators = ""): Glob | undefined {
  return new BranchGlobParser(Array.from(pattern), separators).parse("");
}

class BranchGlobParser {
  private readonly chars: readonly string[];
  /** Accepts every character except the separators. */
  private readonly within: Accepts;
  private at = 0;
  private stars = 0;
  private depth = 0;

  constructor(chars: readonly string[], separators: string) {
    this.chars = chars;
    const codes = new Set(Array.from(separators, codeOf));
    this.within = (code) => !codes.has(code);
  }

  /**
   * @param ends The characters that end this part; they are not consumed. "" for the whole pattern.
   */
  parse(ends: string): GlobToken[] | undefined {
    const tokens: GlobToken[] = [];
    while (this.at < this.chars.length) {
      const char = this.chars[this.at] as string;
      if (ends.includes(char)) return tokens;
      this.at++;
      const token = this.next(char);
      if (!token) return undefined;
      if (token.kind === "many") {
        // A `**` absorbs adjacent stars: they match nothing that it does not match.
        const last = tokens.at(-1);
        if (last?.kind === "many" && last.accepts === anyCharacter) continue;
        if (++this.stars > STARS_MAX) return undefined;
      }
      tokens.push(token);
    }
    return ends === "" ? tokens : undefined;
  }

  private next(char: string): GlobToken | undefined {
    switch (char) {
      case "\\": {
        const literal = this.chars[this.at++];
        return literal === undefined ? undefined : literalToken(codeOf(literal));
      }
      case "*":
        if (this.chars[this.at] !== "*") return { kind: "many", accepts: this.within };
        this.at++;
        return { kind: "many", accepts: anyCharacter };
      case "?":
        return { kind: "one", accepts: this.within };
      case "[":
        return this.set();
      case "{":
        return this.braces();
      default:
        return literalToken(codeOf(char));
    }
  }

  /** Parses a character set whose opening bracket was consumed. */
  private set(): GlobToken | undefined {
    const isNegated = this.chars[this.at] === "!";
    if (isNegated) this.at++;
    const ranges: [first: number, last: number][] = [];
    while (this.chars[this.at] !== "]") {
      const first = this.setChar();
      if (first === undefined) return undefined;
      const isRange = this.chars[this.at] === "-" && this.chars[this.at + 1] !== "]";
      if (isRange) this.at++;
      const last = isRange ? this.setChar() : first;
      if (last === undefined) return undefined;
      ranges.push([codeOf(first), codeOf(last)]);
    }
    this.at++;
    if (ranges.length === 0) return undefined;
    const accepts: Accepts = (code) =>
      ranges.some(([first, last]) => first <= code && code <= last) !== isNegated;
    return { kind: "one", accepts };
  }

  private setChar(): string | undefined {
    if (this.chars[this.at] === "\\") this.at++;
    return this.chars[this.at++];
  }

  /** Parses alternatives whose opening brace was consumed. */
  private braces(): GlobToken | undefined {
    if (++this.depth > DEPTH_MAX) return undefined;
    const choices: Glob[] = [];
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

const codeOf = (char: string): number => char.codePointAt(0) ?? 0;
