import { type Budget, finishInTurns, runNow, type Steps, UNLIMITED } from "../budget.ts";
import { overLimit } from "../error.ts";
import { pickComparable } from "./frequent-lines.ts";
import { findByHistogram, type Region } from "./histogram.ts";
import { type LinePair, type Lines, splitInTurns } from "./lines.ts";
import { findDifferences } from "./myers.ts";
import { type Marks, slideGroups } from "./slide.ts";
import type { Whitespace } from "./whitespace.ts";

/** A run of left lines replaced by a run of right lines. One of the counts may be 0. */
export interface Change {
  /** First line of the left side, counted from 0. */
  readonly leftStart: number;
  readonly leftCount: number;
  readonly rightStart: number;
  readonly rightCount: number;
}

/** How two texts differ, line by line. */
export interface LineDiff {
  readonly left: Lines;
  readonly right: Lines;
  /** In order, with at least one unchanged line between consecutive changes. */
  readonly changes: readonly Change[];
  /** True if the comparison exceeded its budget: one change replaces all lines. */
  readonly isReplacedWhole: boolean;
}

/**
 * Compares two texts as `git diff` does by default, or with one of its options for white space: the
 * same lines are marked as changed.
 *
 * Cost: nearly linear for similar texts, otherwise up to the size times its square root, and at
 * most the budget: beyond half of what is left of it, the text counts as replaced whole, so that
 * one file leaves something for others. The caller must limit the size of both texts.
 *
 * @throws GitError `limit` if the texts have more lines than the budget allows.
 */
export async function diffLines(
  leftBytes: Uint8Array,
  rightBytes: Uint8Array,
  budget: Budget = UNLIMITED,
  whitespace: Whitespace = "show-all",
): Promise<LineDiff> {
  const splitting = splitInTurns(leftBytes, rightBytes, budget, whitespace);
  const pair = await finishInTurns(splitting, budget);
  await budget.pause();
  const { left, right } = pair;
  const changes = await finishInTurns(compareInTurns(pair, "show", budget.half()), budget);
  if (changes) return { left, right, changes, isReplacedWhole: false };
  const whole = { leftStart: 0, leftCount: left.count, rightStart: 0, rightCount: right.count };
  return { left, right, changes: [whole], isReplacedWhole: true };
}

/**
 * The purpose of a comparison: git uses different algorithms for showing changes and for merging
 * them.
 */
export type ComparisonPurpose = "show" | "merge";

/**
 * Like `diffLines`, for texts whose lines are already numbered; with "merge", compares as
 * `git merge` does.
 *
 * @throws GitError `limit` if the comparison exceeds its budget.
 */
export function compareLines(
  pair: LinePair,
  purpose: ComparisonPurpose = "show",
  budget: Budget = UNLIMITED,
): Change[] {
  return runNow(comparisonInTurns(pair, purpose, budget));
}

/** `compareLines`, which can be interrupted. */
export function* comparisonInTurns(
  pair: LinePair,
  purpose: ComparisonPurpose,
  budget: Budget,
): Steps<Change[]> {
  const changes = yield* compareInTurns(pair, purpose, budget);
  if (!changes) throw overLimit("the texts take too much work to compare");
  return changes;
}

/** @returns Undefined once the budget is exhausted. */
function* compareInTurns(
  { left, right, classes }: LinePair,
  purpose: ComparisonPurpose,
  budget: Budget,
): Steps<Change[] | undefined> {
  // One element more than there are lines: the last element stands for the end and is never marked.
  const leftMarks: Marks = new Uint8Array(left.count + 1);
  const rightMarks: Marks = new Uint8Array(right.count + 1);
  const whole: Region = {
    leftStart: 0,
    leftEnd: left.count,
    rightStart: 0,
    rightEnd: right.count,
  };
  const compare = (region: Region): Steps =>
    compareRegion(left.numbers, right.numbers, classes, leftMarks, rightMarks, region, budget);
  if (purpose === "show") {
    yield* compare(whole);
  } else {
    const { numbers } = left;
    yield* findByHistogram(numbers, right.numbers, classes, leftMarks, rightMarks, compare, budget);
  }
  if (budget.isExhausted) return undefined;
  yield* slideGroups(left, leftMarks, rightMarks, purpose === "show", budget);
  yield* slideGroups(right, rightMarks, leftMarks, purpose === "show", budget);
  return budget.isExhausted ? undefined : collectChanges(leftMarks, rightMarks);
}

/** Marks the differences within a region; incomplete once the budget is exhausted. */
function* compareRegion(
  leftAll: Int32Array,
  rightAll: Int32Array,
  classes: number,
  leftAllMarks: Marks,
  rightAllMarks: Marks,
  { leftStart, leftEnd, rightStart, rightEnd }: Region,
  budget: Budget,
): Steps {
  const left = leftAll.subarray(leftStart, leftEnd);
  const right = rightAll.subarray(rightStart, rightEnd);
  const leftMarks = leftAllMarks.subarray(leftStart, leftEnd);
  const rightMarks = rightAllMarks.subarray(rightStart, rightEnd);
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start++;
  let tail = 0;
  while (
    tail < shorter - start &&
    left[left.length - 1 - tail] === right[right.length - 1 - tail]
  ) {
    tail++;
  }
  const leftTail = left.length - tail;
  const rightTail = right.length - tail;

  const leftPicked = pickComparable(left, start, leftTail, countNumbers(right, classes), budget);
  const rightPicked = pickComparable(right, start, rightTail, countNumbers(left, classes), budget);
  leftMarks.fill(1, start, leftTail);
  rightMarks.fill(1, start, rightTail);
  for (const line of leftPicked) leftMarks[line] = 0;
  for (const line of rightPicked) rightMarks[line] = 0;
  yield 0;
  yield* findDifferences(
    leftPicked.map((line) => left[line] as number),
    rightPicked.map((line) => right[line] as number),
    (index) => (leftMarks[leftPicked[index] as number] = 1),
    (index) => (rightMarks[rightPicked[index] as number] = 1),
    budget,
  );
}

function countNumbers(numbers: Int32Array, classes: number): Uint32Array {
  const counts = new Uint32Array(classes);
  for (const number of numbers) (counts[number] as number)++;
  return counts;
}

function collectChanges(leftMarks: Marks, rightMarks: Marks): Change[] {
  const changes: Change[] = [];
  let left = 0;
  let right = 0;
  while (left < leftMarks.length && right < rightMarks.length) {
    const leftStart = left;
    const rightStart = right;
    while (leftMarks[left]) left++;
    while (rightMarks[right]) right++;
    if (left > leftStart || right > rightStart) {
      changes.push({
        leftStart,
        leftCount: left - leftStart,
        rightStart,
        rightCount: right - rightStart,
      });
    }
    left++;
    right++;
  }
  return changes;
}

/** Number of bytes examined to decide whether content is text. */
const BINARY_PROBE_BYTES = 8000;

/** True for content that git treats as binary: content with a NUL among its first bytes. */
export function isBinary(content: Uint8Array): boolean {
  const at = content.subarray(0, BINARY_PROBE_BYTES).indexOf(0);
  return at >= 0;
}
