import type { Budget, Steps } from "../budget.ts";
import { scoreSplit, type SplitScore, isBetterSplit } from "./indent-score.ts";
import type { Lines } from "./lines.ts";

/** How far above its lowest position a group is tried, in lines. */
const SLIDE_LINES_MAX = 100;

/** Steps to move a group by one line and back. */
const STEPS_PER_SLIDE = 5;
/** Steps to score one position of a group by its indentation. */
const STEPS_PER_SCORE = 50;

/** Groups after which sliding can be interrupted. */
const TURN_GROUPS = 500;

/** 1 for each changed line of a side; one more element after the last line is always 0. */
export type Marks = Uint8Array;

/**
 * Moves groups of changed lines to the positions that readers expect.
 *
 * A group next to equal lines has several equivalent positions. It merges with groups it touches,
 * aligns with a group of the other side if possible, and otherwise moves to the position where the
 * indentation suggests the start of a block; without `isByIndentation`, it moves down as far as
 * possible. Ends early once the budget is exhausted, and can be interrupted at each of its yields.
 */
export function* slideGroups(
  own: Lines,
  marks: Marks,
  otherMarks: Marks,
  isByIndentation: boolean,
  budget: Budget,
): Steps {
  const group = new Group(own, marks);
  const other = new Group(undefined, otherMarks);
  let groups = 0;
  do {
    if (++groups % TURN_GROUPS === 0) yield 0;
    if (group.start < group.end) slideGroup(own, group, other, isByIndentation, budget);
  } while (!budget.isExhausted && group.next() && other.next());
}

function slideGroup(
  own: Lines,
  group: Group,
  other: Group,
  isByIndentation: boolean,
  budget: Budget,
): void {
  let size = 0;
  let highestEnd = 0;
  /** Lowest end at which the group is aligned with a group of the other side. */
  let alignedEnd = -1;
  // A group that has merged with another may be able to slide further.
  do {
    size = group.end - group.start;
    alignedEnd = -1;
    while (group.slideUp()) other.previous();
    highestEnd = group.end;
    const highestStart = group.start;
    if (!other.isEmpty) alignedEnd = group.end;
    while (group.slideDown()) {
      other.next();
      if (!other.isEmpty) alignedEnd = group.end;
    }
    budget.consume(STEPS_PER_SLIDE * (group.start - highestStart + 1));
  } while (size !== group.end - group.start && !budget.isExhausted);

  if (group.end === highestEnd) return;
  if (alignedEnd >= 0) {
    while (other.isEmpty) moveUp(group, other);
    return;
  }
  if (!isByIndentation) return;
  let best: { end: number; score: SplitScore } | undefined;
  const lowest = Math.max(highestEnd, group.end - size - 1, group.end - SLIDE_LINES_MAX);
  budget.consume(STEPS_PER_SCORE * (group.end - lowest + 1));
  for (let end = lowest; end <= group.end; end++) {
    const score = scoreSplit(own, end, end - size);
    if (!best || isBetterSplit(score, best.score)) best = { end, score };
  }
  const bestEnd = best?.end ?? group.end;
  while (group.end > bestEnd) moveUp(group, other);
}

function moveUp(group: Group, other: Group): void {
  group.slideUp();
  other.previous();
}

/** A run of changed lines, or the empty run between two unchanged lines. */
class Group {
  start = 0;
  end = 0;
  private readonly lines: Lines | undefined;
  private readonly marks: Marks;

  constructor(lines: Lines | undefined, marks: Marks) {
    this.lines = lines;
    this.marks = marks;
    while (marks[this.end]) this.end++;
  }

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  /** Moves to the group after the next unchanged line; false at the end. */
  next(): boolean {
    if (this.end === this.marks.length - 1) return false;
    this.start = this.end + 1;
    this.end = this.start;
    while (this.marks[this.end]) this.end++;
    return true;
  }

  previous(): boolean {
    if (this.start === 0) return false;
    this.end = this.start - 1;
    this.start = this.end;
    while (this.start > 0 && this.marks[this.start - 1]) this.start--;
    return true;
  }

  slideDown(): boolean {
    const numbers = this.lines?.numbers;
    if (this.end === this.marks.length - 1 || numbers?.[this.start] !== numbers?.[this.end]) {
      return false;
    }
    this.marks[this.start++] = 0;
    this.marks[this.end++] = 1;
    while (this.marks[this.end]) this.end++;
    return true;
  }

  slideUp(): boolean {
    const numbers = this.lines?.numbers;
    if (this.start === 0 || numbers?.[this.start - 1] !== numbers?.[this.end - 1]) return false;
    this.marks[--this.start] = 1;
    this.marks[--this.end] = 0;
    while (this.start > 0 && this.marks[this.start - 1]) this.start--;
    return true;
  }
}
