import { type Budget, UNLIMITED } from "../budget.ts";

/** One element of a pattern. Characters are code points, or bytes for a `ByteText`. */
export type GlobToken =
  /** One character. */
  | { readonly kind: "one"; readonly accepts: Accepts }
  /** Zero or more characters. */
  | { readonly kind: "many"; readonly accepts: Accepts }
  /** A match of one of several globs. */
  | { readonly kind: "either"; readonly choices: readonly Glob[] }
  /** A decimal number within inclusive bounds, without leading zeros. */
  | { readonly kind: "number"; readonly min: number; readonly max: number };

/** A parsed pattern. Each pattern syntax has its own parser. */
export type Glob = readonly GlobToken[];

export type Accepts = (code: number) => boolean;

export const anyCharacter: Accepts = () => true;

export const SLASH = 0x2f;

export const notSlash: Accepts = (code) => code !== SLASH;

/** A literal character. */
export const literalToken = (code: number): GlobToken => ({
  kind: "one",
  accepts: (other) => other === code,
});

/** The meaning of `**` and a slash: zero or more directories, each with its slash. */
export const DIRECTORIES: GlobToken = {
  kind: "either",
  choices: [[], [{ kind: "many", accepts: anyCharacter }, literalToken(SLASH)]],
};

/** Steps to follow a token through a text. */
const STEPS_PER_TOKEN = 10;
const STEPS_PER_CHARACTER = 0.3;

/** Maximum number of digits of a number. */
const DIGITS_MAX = 15;

/**
 * Whether a pattern matches an entire text.
 *
 * SECURITY: patterns come from untrusted users. All possible matches are followed in parallel
 * without backtracking, so the cost is at most the length of the pattern times the length of the
 * text.
 *
 * @param budget Counts the cost; the caller ends its work once it is exhausted.
 */
export function matchGlob(glob: Glob, text: string, budget: Budget = UNLIMITED): boolean {
  if (!matchesEnd(glob, text)) return false;
  const codes = codesOf(text);
  const starts = new Uint8Array(codes.length + 1);
  starts[0] = 1;
  return follow(glob, codes, starts, budget)[codes.length] === 1;
}

function codesOf(text: string): number[] {
  const codes: number[] = [];
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) as number;
    codes.push(code);
    at += code > 0xffff ? 2 : 1;
  }
  return codes;
}

/**
 * Compares the end of the text with the pattern's trailing single characters, which rejects most
 * texts early.
 */
function matchesEnd(glob: Glob, text: string): boolean {
  let end = text.length;
  for (let index = glob.length - 1; index >= 0; index--) {
    const token = glob[index] as GlobToken;
    if (token.kind !== "one") return true;
    if (end === 0) return false;
    end -= end > 1 && (text.codePointAt(end - 2) as number) > 0xffff ? 2 : 1;
    if (!token.accepts(text.codePointAt(end) as number)) return false;
  }
  return end === 0;
}

/**
 * Returns the possible ends of a match of the tokens, as 1 at each index, for the possible starts.
 */
function follow(
  glob: Glob,
  codes: readonly number[],
  starts: Uint8Array,
  budget: Budget,
): Uint8Array {
  let current = starts;
  for (const token of glob) {
    const first = current.indexOf(1);
    if (first < 0) return current;
    budget.consume(STEPS_PER_TOKEN + STEPS_PER_CHARACTER * codes.length);
    current = step(token, codes, current, first, budget);
  }
  return current;
}

function step(
  token: GlobToken,
  codes: readonly number[],
  current: Uint8Array,
  first: number,
  budget: Budget,
): Uint8Array {
  const next = new Uint8Array(current.length);
  switch (token.kind) {
    case "one":
      for (let at = first; at < codes.length; at++) {
        if (current[at] === 1 && token.accepts(codes[at] as number)) next[at + 1] = 1;
      }
      break;
    case "many": {
      let isWithin = false;
      for (let at = first; at < current.length; at++) {
        if (isWithin || current[at] === 1) next[at] = 1;
        isWithin = next[at] === 1 && at < codes.length && token.accepts(codes[at] as number);
      }
      break;
    }
    case "either":
      for (const choice of token.choices) {
        const ends = follow(choice, codes, current, budget);
        for (let at = first; at < ends.length; at++) if (ends[at] === 1) next[at] = 1;
      }
      break;
    case "number":
      for (let at = first; at < codes.length; at++) {
        if (current[at] === 1) markNumbers(token, codes, at, next);
      }
      break;
    default:
      token satisfies never;
  }
  return next;
}

const ZERO = 0x30;
const PLUS = 0x2b;
const MINUS = 0x2d;

/** Marks the ends of all numbers at `start` that are within the bounds. */
function markNumbers(
  { min, max }: { min: number; max: number },
  codes: readonly number[],
  start: number,
  next: Uint8Array,
): void {
  const isNegative = codes[start] === MINUS;
  const first = start + (isNegative || codes[start] === PLUS ? 1 : 0);
  let magnitude = 0;
  for (let at = first; at < Math.min(codes.length, first + DIGITS_MAX); at++) {
    const digit = (codes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return;
    if (codes[first] === ZERO && at > first) return;
    magnitude = magnitude * 10 + digit;
    const value = isNegative ? -magnitude : magnitude;
    if (value >= min && value <= max) next[at + 1] = 1;
  }
}
