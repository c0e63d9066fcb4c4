import { type Budget, type Steps } from "../budget.ts";
import { findDifferences } from "./myers.ts";

/** A part of a line, and whether the other line has it too. */
export interface WordRun {
  readonly text: string;
  readonly isChanged: boolean;
}

/** The words of two lines, one of which replaces the other. */
export interface WordDiff {
  readonly left: readonly WordRun[];
  readonly right: readonly WordRun[];
}

/** Longest line that is compared by words, in characters. */
const CHARS_MAX = 1000;
/** Two lines with less in common than this part of the shorter one are different lines. */
const COMMON_PART_MIN = 1 / 3;
/** Steps to read a word. */
const WORD_STEPS = 20;

/** A word, white space between words, or one other character. */
const WORDS = /[\p{L}\p{N}_]+|\s+|[^]/gu;

/**
 * Compares two lines word by word, as `git diff --word-diff` does with words of letters, digits and
 * underscores.
 *
 * Cost: at most that of comparing two texts of 1,000 lines.
 *
 * @returns Undefined for lines that are long or have little in common, and once the budget is
 * exhausted.
 */
export function* wordDiffInTurns(
  left: string,
  right: string,
  budget: Budget,
): Steps<WordDiff | undefined> {
  if (left.length > CHARS_MAX || right.length > CHARS_MAX || budget.isExhausted) return undefined;
  const numbers = new Map<string, number>();
  const [leftWords, rightWords] = [left.match(WORDS) ?? [], right.match(WORDS) ?? []];
  const number = (word: string): number => {
    const known = numbers.get(word);
    if (known === undefined) numbers.set(word, numbers.size);
    return known ?? numbers.size - 1;
  };
  budget.consume(WORD_STEPS * (leftWords.length + rightWords.length));
  const leftMarks = new Uint8Array(leftWords.length);
  const rightMarks = new Uint8Array(rightWords.length);
  yield* findDifferences(
    Int32Array.from(leftWords, number),
    Int32Array.from(rightWords, number),
    (index) => (leftMarks[index] = 1),
    (index) => (rightMarks[index] = 1),
    budget,
  );
  if (budget.isExhausted || !haveMuchInCommon(leftWords, rightWords, leftMarks)) return undefined;
  return { left: toRuns(leftWords, leftMarks), right: toRuns(rightWords, rightMarks) };
}

/** White space does not count: most lines have some. */
function haveMuchInCommon(
  left: readonly string[],
  right: readonly string[],
  marks: Uint8Array,
): boolean {
  const lengthOf = (words: readonly string[]): number =>
    words.reduce((sum, word) => sum + word.trim().length, 0);
  const common = lengthOf(left.filter((_, at) => marks[at] === 0));
  return common > 0 && common >= COMMON_PART_MIN * Math.min(lengthOf(left), lengthOf(right));
}

/** Joins words into runs; white space between two changed words is part of the change. */
function toRuns(words: readonly string[], marks: Uint8Array): WordRun[] {
  const runs: WordRun[] = [];
  let [text, isChanged] = ["", marks[0] === 1];
  for (const [at, word] of words.entries()) {
    const isBetween = marks[at - 1] === 1 && marks[at + 1] === 1 && word.trim() === "";
    const isMarked = marks[at] === 1 || isBetween;
    if (isMarked !== isChanged) {
      runs.push({ text, isChanged });
      [text, isChanged] = ["", isMarked];
    }
    text += word;
  }
  return text === "" ? runs : [...runs, { text, isChanged }];
}
