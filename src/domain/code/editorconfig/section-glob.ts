import {
  anyCharacter,
  DIRECTORIES,
  type Glob,
  type GlobToken,
  literalToken,
  notSlash,
  SLASH,
} from "../../../git/glob/match-glob.ts";

/**
 * Parses a section header of an `.editorconfig`.
 *
 * @returns A glob for paths relative to the directory of the file, with a leading slash.
 * @see https://spec.editorconfig.org, "Glob Expressions".
 */
export function parseSectionGlob(header: string): Glob {
  const path = header.startsWith("/")
    ? header
    : header.includes("/")
      ? `/${header}`
      : `/**/${header}`;
  return new SectionParser(Array.from(path)).parse();
}

class SectionParser {
  private readonly chars: readonly string[];
  /** Whether braces are balanced. Unbalanced braces are literals. */
  private readonly hasBraces: boolean;
  private at = 0;

  constructor(chars: readonly string[]) {
    this.chars = chars;
    const count = (brace: string) =>
      chars.filter((char, at) => char === brace && chars[at - 1] !== "\\").length;
    this.hasBraces = count("{") === count("}");
  }

  parse(): GlobToken[] {
    const tokens: GlobToken[] = [];
    while (this.at < this.chars.length) tokens.push(...this.next());
    return tokens;
  }

  private next(): GlobToken[] {
    const char = this.chars[this.at] as string;
    this.at++;
    if (char === "\\" && this.at < this.chars.length) return [this.literal(this.chars[this.at++])];
    if (char === "*") {
      if (this.chars[this.at] !== "*") return [{ kind: "many", accepts: notSlash }];
      this.at++;
      return [{ kind: "many", accepts: anyCharacter }];
    }
    if (char === "?") return [{ kind: "one", accepts: notSlash }];
    if (char === "[") return [this.set() ?? this.literal(char)];
    if (char === "{" && this.hasBraces) return this.braces();
    if (char === "/" && this.chars.slice(this.at, this.at + 3).join("") === "**/") {
      this.at += 3;
      return [literalToken(SLASH), DIRECTORIES];
    }
    return [this.literal(char)];
  }

  private literal(char = ""): GlobToken {
    return literalToken(codeOf(char));
  }

  /** Parses a set after its `[`. Undefined if it is not closed, or contains a slash. */
  private set(): GlobToken | undefined {
    const end = this.endOfSet();
    if (end === undefined) return undefined;
    const ranges: (readonly [first: number, last: number])[] = [];
    const isNegated = this.chars[this.at] === "!";
    for (let at = this.at + (isNegated ? 1 : 0); at < end; at++) {
      const last = at + 2 < end && this.chars[at + 1] === "-" ? this.chars[at + 2] : undefined;
      if (last === undefined && this.chars[at] === "\\") at++;
      const first = codeOf(this.chars[at]);
      ranges.push([first, last === undefined ? first : codeOf(last)]);
      if (last !== undefined) at += 2;
    }
    this.at = end + 1;
    const isMember = (code: number) =>
      ranges.some(([first, last]) => first <= code && code <= last);
    return { kind: "one", accepts: (code) => code !== SLASH && isMember(code) !== isNegated };
  }

  /** The index of the bracket that closes a set; its first character may be a bracket, too. */
  private endOfSet(): number | undefined {
    const start = this.at + (this.chars[this.at] === "!" ? 1 : 0);
    for (let at = start; at < this.chars.length; at++) {
      const char = this.chars[at];
      if (char === "/") return undefined;
      if (char === "]" && at > start) return at;
      if (char === "\\") at++;
    }
    return undefined;
  }

  /** Parses choices or a numeric range after the `{`. Braces without either are literals. */
  private braces(): GlobToken[] {
    const parts = this.splitBraces();
    if (!parts) return [this.literal("{")];
    const [first = [], ...others] = parts;
    if (others.length > 0) {
      return [{ kind: "either", choices: parts.map((part) => new SectionParser(part).parse()) }];
    }
    const [, min, max] = /^([+-]?\d{1,15})\.\.([+-]?\d{1,15})$/.exec(first.join("")) ?? [];
    if (min !== undefined) return [{ kind: "number", min: Number(min), max: Number(max) }];
    return [this.literal("{"), ...new SectionParser(first).parse(), this.literal("}")];
  }

  /**
   * Splits the text up to the closing brace at its commas, and consumes that brace. Undefined if it
   * is missing.
   */
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

const codeOf = (char = ""): number => char.codePointAt(0) ?? -1;
