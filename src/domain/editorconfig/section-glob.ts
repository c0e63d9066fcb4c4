import {
  anyCharacter,
  DIRECTORIES,
  type Glob,
  type GlobToken,
  literalToken,
  notSlash,
  SLASH,
} from "../../git/glob/match-glob.ts";

/**
 * Reads the header of a section of an `.editorconfig`.
 *
 * @returns For the path from the directory of the file, beginning with a slash.
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
  /** Where braces come in pairs; else they stand for themselves. */
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

  /** A set whose bracket was read; undefined if it is not closed, or closed behind a slash. */
  private set(): GlobToken | undefined {
    const codes = new Set<number>();
    const isNegated = this.chars[this.at] === "!";
    for (let at = this.at + (isNegated ? 1 : 0); at < this.chars.length; at++) {
      const char = this.chars[at] as string;
      if (char === "/") return undefined;
      if (char === "]" && codes.size > 0) {
        this.at = at + 1;
        return { kind: "one", accepts: (code) => code !== SLASH && codes.has(code) !== isNegated };
      }
      const last = this.chars[at + 2];
      if (this.chars[at + 1] === "-" && last !== undefined && last !== "]" && last !== "/") {
        addRange(codes, char, last);
        at += 2;
      } else {
        if (char === "\\") at++;
        codes.add(codeOf(this.chars[at]));
      }
    }
    return undefined;
  }

  /** Choices or a range whose brace was read; one without a comma stands for itself. */
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

function addRange(codes: Set<number>, first: string, last: string): void {
  const [start, end] = [codeOf(first), codeOf(last)];
  for (let code = start; code <= Math.min(end, start + RANGE_MAX); code++) codes.add(code);
}

const codeOf = (char = ""): number => char.codePointAt(0) ?? -1;
