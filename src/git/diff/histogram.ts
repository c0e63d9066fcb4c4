/** Lines that occur more often than this on the left are never what a text is split at. */
const OCCURRENCES_MAX = 64;
/** Comparisons after which what is left goes to the other algorithm: a bound for hostile texts. */
const COMPARISONS_MAX = 100_000_000;

/** Lines `leftStart` to `leftEnd` of one text and `rightStart` to `rightEnd` of the other. */
export interface Region {
  readonly leftStart: number;
  readonly leftEnd: number;
  readonly rightStart: number;
  readonly rightEnd: number;
}

/** A region whose lines are the same on both sides. */
type Match = Region;

/**
 * Marks what differs between two texts by splitting them at their longest match among the rarest
 * lines, again and again: the algorithm that git merges with.
 *
 * @param classes How many different numbers there are.
 * @param compareOtherwise Called for a region whose common lines are all too frequent to split at.
 * @see "The Histogram Diff" of JGit, org.eclipse.jgit.diff.HistogramDiff.
 */
export function findByHistogram(
  left: Int32Array,
  right: Int32Array,
  classes: number,
  leftMarks: Uint8Array,
  rightMarks: Uint8Array,
  compareOtherwise: (region: Region) => void,
): void {
  const search = new HistogramSearch(left, right, classes);
  const stack: Region[] = [
    { leftStart: 0, leftEnd: left.length, rightStart: 0, rightEnd: right.length },
  ];
  for (let region = stack.pop(); region; region = stack.pop()) {
    const { leftStart, leftEnd, rightStart, rightEnd } = region;
    const hasBoth = leftStart < leftEnd && rightStart < rightEnd;
    const match = hasBoth ? search.find(region) : undefined;
    if (match === "too-frequent") {
      compareOtherwise(region);
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
  /** How often each number occurs on the left of the region. */
  private readonly counts: Uint32Array;
  /** Its first place there. */
  private readonly firsts: Int32Array;
  /** The next place of the number at a place, -1 at the last. */
  private readonly nexts: Int32Array;
  private comparisons = 0;

  constructor(left: Int32Array, right: Int32Array, classes: number) {
    this.left = left;
    this.right = right;
    this.counts = new Uint32Array(classes);
    this.firsts = new Int32Array(classes);
    this.nexts = new Int32Array(left.length);
  }

  /** The match to split a region at; undefined if nothing in it is common. */
  find(region: Region): Match | "too-frequent" | undefined {
    if (this.comparisons > COMPARISONS_MAX) return "too-frequent";
    this.count(region);
    let best: Match | undefined;
    // A single line counts only by how rare it is.
    let longest = 1;
    let fewest = OCCURRENCES_MAX + 1;
    let hasCommon = false;
    for (let at = region.rightStart; at < region.rightEnd;) {
      const number = this.right[at] as number;
      const count = this.counts[number] as number;
      let next = at + 1;
      if (count > 0) hasCommon = true;
      if (count > 0 && count <= fewest) {
        for (let place = this.firsts[number] as number; place >= 0;) {
          const { match, rarest } = this.extend(region, place, at);
          next = Math.max(next, match.rightEnd);
          if (match.leftEnd - match.leftStart > longest || rarest < fewest) {
            best = match;
            longest = match.leftEnd - match.leftStart;
            fewest = rarest;
          }
          // Other places within the match lead to no better one.
          do place = this.nexts[place] as number;
          while (place >= 0 && place < match.leftEnd);
        }
      }
      at = next;
    }
    this.forget(region);
    return hasCommon && fewest > OCCURRENCES_MAX ? "too-frequent" : best;
  }

  /** The match around two equal lines, and how often its rarest line occurs. */
  private extend(region: Region, place: number, at: number): { match: Match; rarest: number } {
    const { left, right, counts } = this;
    let leftStart = place;
    let rightStart = at;
    let leftEnd = place + 1;
    let rightEnd = at + 1;
    let rarest = counts[left[place] as number] as number;
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
    for (let place = leftEnd - 1; place >= leftStart; place--) {
      const number = this.left[place] as number;
      const count = this.counts[number] as number;
      this.nexts[place] = count > 0 ? (this.firsts[number] as number) : -1;
      this.firsts[number] = place;
      this.counts[number] = count + 1;
    }
  }

  private forget({ leftStart, leftEnd }: Region): void {
    for (let place = leftStart; place < leftEnd; place++) {
      this.counts[this.left[place] as number] = 0;
    }
  }
}
