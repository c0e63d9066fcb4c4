import {
  type Accepts,
  anyCharacter,
  type Glob,
  type GlobToken,
  literalToken,
} from "../../../git/glob/match-glob.ts";

/** How many `*` and `**` a pattern may have, neighbours counted as one, and how deep its braces may nest. */
const STARS_MAX = 64;
const DEPTH_MAX = 10;

/**
 * Reads a pattern of branches, as Gitea's branch filters have it: `*` and `?` stand for no separator, `**` for anything, `[a-z]` and `[!a-z]` for one
 * character, `{a,b}` for one of several, a backslash takes the next character as it is.
 *
 * @param separators The characters that `*` and `?` stop at.
 * @returns Undefined for what is no pattern: a bracket or brace without its end, an empty bracket, a
 * lone backslash, or more than 64 stars or 10 braces within each other.
 */
export function parseBranchGlob(pattern: string, separators = ""): Glob | undefined {
  return new BranchGlobParser(Array.from(pattern), separators).parse("");
}

class BranchGlobParser {
  private readonly chars: readonly string[];
  /** All characters but the separators. */
  private readonly within: Accepts;
  private at = 0;
  private stars = 0;
  private depth = 0;

  constructor(chars: readonly string[], separators: string) {
    this.chars = chars;
    const codes = new Set(Array.from(separators, codeOf));
    this.within = (code) => !codes.has(code);
  }

  /** @param ends The characters that end this part, which are left to be read; "" for the whole. */
  parse(ends: string): GlobToken[] | undefined {
    const tokens: GlobToken[] = [];
    while (this.at < this.chars.length) {
      const char = this.chars[this.at] as string;
      if (ends.includes(char)) return tokens;
      this.at++;
      const token = this.next(char);
      if (!token) return undefined;
      if (token.kind === "many") {
        // A `**` takes the stars beside it in: they stand for nothing that it does not.
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

  /** A set whose bracket was read. */
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

  /** Choices whose brace was read. */
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
