/** What a part of a text may be. Characters are code points, or bytes where the text is one of bytes. */
export type GlobToken =
  /** One character. */
  | { readonly kind: "one"; readonly accepts: Accepts }
  /** Any number of characters, none among them. */
  | { readonly kind: "many"; readonly accepts: Accepts }
  /** What one of several sequences of tokens stands for. */
  | { readonly kind: "either"; readonly choices: readonly Glob[] }
  /** A decimal number within bounds, which has no needless zeros. */
  | { readonly kind: "number"; readonly min: number; readonly max: number };

/** A pattern that is ready to be matched. Each syntax of patterns has a parser that makes one. */
export type Glob = readonly GlobToken[];

export type Accepts = (code: number) => boolean;

export const anyCharacter: Accepts = () => true;

export const SLASH = 0x2f;

export const notSlash: Accepts = (code) => code !== SLASH;

/** A character that stands for itself. */
export const literalToken = (code: number): GlobToken => ({
  kind: "one",
  accepts: (other) => other === code,
});

/** Nothing, or directories, each with its slash: what stands for `**` before a slash. */
export const DIRECTORIES: GlobToken = {
  kind: "either",
  choices: [[], [{ kind: "many", accepts: anyCharacter }, literalToken(SLASH)]],
};

/** Digits of a number that is compared. */
const DIGITS_MAX = 15;

/**
 * Whether a pattern stands for the whole of a text.
 *
 * SECURITY: patterns are anybody's. All ways to match are followed at once, so that the cost is at most
 * the length of the pattern times that of the text.
 */
export function matchGlob(glob: Glob, text: string): boolean {
  if (!fitsEnd(glob, text)) return false;
  const codes = codesOf(text);
  const starts = new Uint8Array(codes.length + 1);
  starts[0] = 1;
  return follow(glob, codes, starts)[codes.length] === 1;
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

/** Whether the last characters may be those that the pattern ends with: most texts are told apart so. */
function fitsEnd(glob: Glob, text: string): boolean {
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

/** Where a match of the tokens may end, as 1 at its index, given where it may start. */
function follow(glob: Glob, codes: readonly number[], starts: Uint8Array): Uint8Array {
  let open = starts;
  for (const token of glob) {
    const first = open.indexOf(1);
    if (first < 0) return open;
    open = step(token, codes, open, first);
  }
  return open;
}

function step(
  token: GlobToken,
  codes: readonly number[],
  open: Uint8Array,
  first: number,
): Uint8Array {
  const next = new Uint8Array(open.length);
  switch (token.kind) {
    case "one":
      for (let at = first; at < codes.length; at++) {
        if (open[at] === 1 && token.accepts(codes[at] as number)) next[at + 1] = 1;
      }
      break;
    case "many": {
      let isWithin = false;
      for (let at = first; at < open.length; at++) {
        if (isWithin || open[at] === 1) next[at] = 1;
        isWithin = next[at] === 1 && at < codes.length && token.accepts(codes[at] as number);
      }
      break;
    }
    case "either":
      for (const choice of token.choices) {
        const ends = follow(choice, codes, open);
        for (let at = first; at < ends.length; at++) if (ends[at] === 1) next[at] = 1;
      }
      break;
    case "number":
      for (let at = first; at < codes.length; at++) {
        if (open[at] === 1) markNumbers(token, codes, at, next);
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

/** Marks the ends of all numbers within bounds that start at `start`. */
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
