import { type Budget, type Steps, UNLIMITED } from "../budget.ts";

/** Texts are not split at lines that occur more often than this on the left. */
const OCCURRENCES_MAX = 64;
/**
 * After this many comparisons the remaining regions use the other algorithm: a bound for hostile
 * texts.
 */
const COMPARISONS_MAX = 100_000_000;

/** Steps to search a region, and for each comparison in it. */
const STEPS_PER_REGION = 20;
const STEPS_PER_COMPARISON = 1;
/** Comparisons after which a search can be interrupted. */
const TURN_COMPARISONS = 50_000;

/**
 * Lines `leftStart` to `leftEnd` of the left text and `rightStart` to `rightEnd` of the right text.
 */
export interface Region {
  readonly leftStart: number;
  readonly leftEnd: number;
  readonly rightStart: number;
  readonly rightEnd: number;
}

/** A region whose lines are equal on both sides. */
type Match = Region;

/**
 * Marks the differences between two texts by splitting them repeatedly at the longest match among
 * the rarest lines. Git uses this algorithm for merges.
 *
 * @param classes The number of distinct lines.
 * The search can be interrupted at each of its yields.
 *
 * @param compareOtherwise Called for a region whose common lines are all too frequent to split at.
 * @param budget Once it is exhausted, the marks stay incomplete.
 * @see "The Histogram Diff" of JGit, org.eclipse.jgit.diff.HistogramDiff.
 */
export function* findByHistogram(
  left: Int32Array,
  right: Int32Array,
  classes: number,
  leftMarks: Uint8Array,
  rightMarks: Uint8Array,
  compareOtherwise: (region: Region) => Steps,
  budget: Budget = UNLIMITED,
): Steps {
  const search = new HistogramSearch(left, right, classes, budget);
  const stack: Region[] = [
    { leftStart: 0, leftEnd: left.length, rightStart: 0, rightEnd: right.length },
  ];
  for (let region = stack.pop(); region && !budget.isExhausted; region = stack.pop()) {
    const { leftStart, leftEnd, rightStart, rightEnd } = region;
    const hasBoth = leftStart < leftEnd && rightStart < rightEnd;
    const match = hasBoth ? yield* search.find(region) : undefined;
    budget.consume(STEPS_PER_REGION);
    yield 0;
    if (match === "too-frequent") {
      yield* compareOtherwise(region);
    } else if (match) {
      stack.push(
        { leftStart: match.leftEnd, leftEnd, rightStart: match.rightEnd, rightEnd },
        { leftStart, leftEnd: match.leftStart, rightStart, rightEnd: match.rightStart },
      );
    } else {
      leftMarks.fill(1, leftStart, leftEnd);
      rightMarks.fill(1, rightStart, rightEnd);
    }
  }
}

class HistogramSearch {
  private readonly left: Int32Array;
  private readonly right: Int32Array;
  /** How often each line number occurs on the left of the region. */
  private readonly counts: Uint32Array;
  /** The index of each number's first occurrence on the left. */
  private readonly firsts: Int32Array;
  /** For each index on the left, the index of the same number's next occurrence; -1 at the last. */
  private readonly nexts: Int32Array;
  private readonly budget: Budget;
  private comparisons = 0;
  /** Comparisons that count in the budget. */
  private counted = 0;

  constructor(left: Int32Array, right: Int32Array, classes: number, budget: Budget) {
    this.budget = budget;
    this.left = left;
    this.right = right;
    this.counts = new Uint32Array(classes);
    this.firsts = new Int32Array(classes);
    this.nexts = new Int32Array(left.length);
  }

  /** The match at which to split a region; undefined if the sides have no line in common. */
  *find(region: Region): Steps<Match | "too-frequent" | undefined> {
    if (this.comparisons > COMPARISONS_MAX) return "too-frequent";
    this.count(region);
    let best: Match | undefined;
    // A match of a single line wins only by its rarity.
    let longest = 1;
    let fewest = OCCURRENCES_MAX + 1;
    let hasCommon = false;
    for (let at = region.rightStart; at < region.rightEnd;) {
      const number = this.right[at] as number;
      const count = this.counts[number] as number;
      let next = at + 1;
      if (count > 0) hasCommon = true;
      if (count > 0 && count <= fewest) {
        for (let index = this.firsts[number] as number; index >= 0;) {
          const { match, rarest } = this.extend(region, index, at);
          next = Math.max(next, match.rightEnd);
          if (match.leftEnd - match.leftStart > longest || rarest < fewest) {
            best = match;
            longest = match.leftEnd - match.leftStart;
            fewest = rarest;
          }
          if (this.comparisons - this.counted > TURN_COMPARISONS) {
            this.countComparisons();
            yield 0;
          }
          // Other occurrences within the match lead to no better match.
          do index = this.nexts[index] as number;
          while (index >= 0 && index < match.leftEnd);
        }
      }
      at = next;
    }
    this.resetCounts(region);
    this.countComparisons();
    return hasCommon && fewest > OCCURRENCES_MAX ? "too-frequent" : best;
  }

  private countComparisons(): void {
    this.budget.consume(STEPS_PER_COMPARISON * (this.comparisons - this.counted));
    this.counted = this.comparisons;
  }

  /** Extends two equal lines to the longest match; `rarest` is how often its rarest line occurs. */
  private extend(region: Region, index: number, at: number): { match: Match; rarest: number } {
    const { left, right, counts } = this;
    let leftStart = index;
    let rightStart = at;
    let leftEnd = index + 1;
    let rightEnd = at + 1;
    let rarest = counts[left[index] as number] as number;
    while (
      leftStart > region.leftStart &&
      rightStart > region.rightStart &&
      left[leftStart - 1] === right[rightStart - 1]
    ) {
      leftStart--;
      rightStart--;
      rarest = Math.min(rarest, counts[left[leftStart] as number] as number);
    }
    while (
      leftEnd < region.leftEnd &&
      rightEnd < region.rightEnd &&
      left[leftEnd] === right[rightEnd]
    ) {
      rarest = Math.min(rarest, counts[left[leftEnd] as number] as number);
      leftEnd++;
      rightEnd++;
    }
    this.comparisons += leftEnd - leftStart;
    return { match: { leftStart, leftEnd, rightStart, rightEnd }, rarest };
  }

  private count({ leftStart, leftEnd, rightStart, rightEnd }: Region): void {
    this.comparisons += leftEnd - leftStart + (rightEnd - rightStart);
    for (let index = leftEnd - 1; index >= leftStart; index--) {
      const number = this.left[index] as number;
      const count = this.counts[number] as number;
      this.nexts[index] = count > 0 ? (this.firsts[number] as number) : -1;
      this.firsts[number] = index;
      this.counts[number] = count + 1;
    }
  }

  private resetCounts({ leftStart, leftEnd }: Region): void {
    for (let index = leftStart; index < leftEnd; index++) {
      this.counts[this.left[index] as number] = 0;
    }
  }
}
