import type { Budget, Steps } from "../budget.ts";

/** A run of equal lines longer than this indicates that the two sides correspond. */
const SNAKE_LINES = 20;
/** Above this cost, a long snake may end the search for the shortest script. */
const HEURISTIC_COST_MIN = 256;
/** A snake counts if the search has advanced by more than this many times its cost. */
const HEURISTIC_GAIN = 4;
/**
 * The search for a split is abandoned at a cost of the square root of the size, but not below this
 * cost.
 */
const COST_MAX_MIN = 256;

const STEPS_PER_DIAGONAL = 1;
const STEPS_PER_LINE = 0.2;
/** Steps after which the search for a split can be interrupted. */
const TURN_STEPS = 50_000;

/** The point at which a box of both sequences is split in two. */
interface Split {
  readonly left: number;
  readonly right: number;
}

/**
 * Finds the differences between two sequences: the linear-space algorithm of Myers, searching from
 * both ends, with git's shortcuts for cases where finding the shortest script takes too long. The
 * result is exactly git's script, not just a script of the same length.
 *
 * The search can be interrupted at each of its yields, and ends early once the budget is exhausted.
 *
 * @param onlyLeft Called with the index of each left element without a match.
 * @param onlyRight Called with the index of each right element without a match.
 * @see Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), section 4b.
 */
export function findDifferences(
  left: Int32Array,
  right: Int32Array,
  onlyLeft: (index: number) => void,
  onlyRight: (index: number) => void,
  budget: Budget,
): Steps {
  const search = new Search(left, right, onlyLeft, onlyRight, budget);
  return search.compare(0, left.length, 0, right.length);
}

/**
 * The smallest power of two greater than the square root: cheap to compute, and the value that git
 * uses.
 */
export function roughSquareRoot(number: number): number {
  let root = 1;
  for (let rest = number; rest > 0; rest >>>= 2) root <<= 1;
  return root;
}

const FAR = 0x7fffffff;

class Search {
  private readonly left: Int32Array;
  private readonly right: Int32Array;
  private readonly onlyLeft: (index: number) => void;
  private readonly onlyRight: (index: number) => void;
  /** Furthest index of `left` reached on each diagonal, from the front and from the back. */
  private readonly front: Int32Array;
  private readonly back: Int32Array;
  /** Added to a diagonal to get its index in `front` and `back`. */
  private readonly origin: number;
  private readonly costMax: number;
  private readonly budget: Budget;

  constructor(
    left: Int32Array,
    right: Int32Array,
    onlyLeft: (index: number) => void,
    onlyRight: (index: number) => void,
    budget: Budget,
  ) {
    this.budget = budget;
    this.left = left;
    this.right = right;
    this.onlyLeft = onlyLeft;
    this.onlyRight = onlyRight;
    const diagonals = left.length + right.length + 3;
    this.front = new Int32Array(diagonals);
    this.back = new Int32Array(diagonals);
    this.origin = right.length + 1;
    this.costMax = Math.max(COST_MAX_MIN, roughSquareRoot(diagonals));
  }

  /** Compares `left[leftStart..leftEnd)` with `right[rightStart..rightEnd)`. */
  *compare(leftStart: number, leftEnd: number, rightStart: number, rightEnd: number): Steps {
    // A stack instead of recursion: hostile input must not control the recursion depth.
    const stack = [leftStart, leftEnd, rightStart, rightEnd];
    while (stack.length > 0 && !this.budget.isExhausted) {
      let d = stack.pop() as number;
      let c = stack.pop() as number;
      let b = stack.pop() as number;
      let a = stack.pop() as number;
      while (a < b && c < d && this.left[a] === this.right[c]) {
        a++;
        c++;
      }
      while (a < b && c < d && this.left[b - 1] === this.right[d - 1]) {
        b--;
        d--;
      }
      if (a === b) {
        for (; c < d; c++) this.onlyRight(c);
      } else if (c === d) {
        for (; a < b; a++) this.onlyLeft(a);
      } else {
        const split = yield* this.split(a, b, c, d);
        yield 0;
        stack.push(split.left, b, split.right, d, a, split.left, c, split.right);
      }
    }
  }

  private *split(
    leftStart: number,
    leftEnd: number,
    rightStart: number,
    rightEnd: number,
  ): Steps<Split> {
    const { left, right, front, back, origin } = this;
    const lowest = leftStart - rightEnd;
    const highest = leftEnd - rightStart;
    const frontMiddle = leftStart - rightStart;
    const backMiddle = leftEnd - rightEnd;
    const isOdd = ((frontMiddle - backMiddle) & 1) !== 0;
    let frontLow = frontMiddle;
    let frontHigh = frontMiddle;
    let backLow = backMiddle;
    let backHigh = backMiddle;
    front[origin + frontMiddle] = leftStart;
    back[origin + backMiddle] = leftEnd;

    let steps = 0;
    for (let cost = 1; ; cost++) {
      let hasSnake = false;
      let snakeLines = 0;

      if (frontLow > lowest) front[origin + --frontLow - 1] = -1;
      else frontLow++;
      if (frontHigh < highest) front[origin + ++frontHigh + 1] = -1;
      else frontHigh--;
      for (let diagonal = frontHigh; diagonal >= frontLow; diagonal -= 2) {
        const below = front[origin + diagonal - 1] as number;
        const above = front[origin + diagonal + 1] as number;
        let a = below >= above ? below + 1 : above;
        const started = a;
        while (a < leftEnd && a - diagonal < rightEnd && left[a] === right[a - diagonal]) a++;
        snakeLines += a - started;
        if (a - started > SNAKE_LINES) hasSnake = true;
        front[origin + diagonal] = a;
        if (isOdd && backLow <= diagonal && diagonal <= backHigh) {
          if ((back[origin + diagonal] as number) <= a) return { left: a, right: a - diagonal };
        }
      }

      if (backLow > lowest) back[origin + --backLow - 1] = FAR;
      else backLow++;
      if (backHigh < highest) back[origin + ++backHigh + 1] = FAR;
      else backHigh--;
      for (let diagonal = backHigh; diagonal >= backLow; diagonal -= 2) {
        const below = back[origin + diagonal - 1] as number;
        const above = back[origin + diagonal + 1] as number;
        let a = below < above ? below : above - 1;
        const started = a;
        while (
          a > leftStart &&
          a - diagonal > rightStart &&
          left[a - 1] === right[a - diagonal - 1]
        ) {
          a--;
        }
        snakeLines += started - a;
        if (started - a > SNAKE_LINES) hasSnake = true;
        back[origin + diagonal] = a;
        if (!isOdd && frontLow <= diagonal && diagonal <= frontHigh) {
          if (a <= (front[origin + diagonal] as number)) return { left: a, right: a - diagonal };
        }
      }

      // Each round visits every second diagonal of both ranges.
      const diagonals = (frontHigh - frontLow + backHigh - backLow) / 2 + 2;
      const taken = STEPS_PER_DIAGONAL * diagonals + STEPS_PER_LINE * snakeLines;
      this.budget.consume(taken);
      steps += taken;
      if (steps > TURN_STEPS) {
        steps = 0;
        yield 0;
      }
      if (this.budget.isExhausted) return { left: leftStart, right: rightEnd };

      if (hasSnake && cost > HEURISTIC_COST_MIN) {
        const box = { leftStart, leftEnd, rightStart, rightEnd };
        const split =
          this.splitAtFrontSnake(box, cost, frontLow, frontHigh, frontMiddle) ??
          this.splitAtBackSnake(box, cost, backLow, backHigh, backMiddle);
        if (split) return split;
      }
      if (cost >= this.costMax) {
        const box = { leftStart, leftEnd, rightStart, rightEnd };
        return this.splitAtFurthest(box, frontLow, frontHigh, backLow, backHigh);
      }
    }
  }

  /** The best path from the front that has just passed a long snake. */
  private splitAtFrontSnake(
    box: Box,
    cost: number,
    low: number,
    high: number,
    middle: number,
  ): Split | undefined {
    let best = 0;
    let split: Split | undefined;
    for (let diagonal = high; diagonal >= low; diagonal -= 2) {
      const a = this.front[this.origin + diagonal] as number;
      const c = a - diagonal;
      const gain = a - box.leftStart + (c - box.rightStart) - Math.abs(diagonal - middle);
      const isInside =
        box.leftStart + SNAKE_LINES <= a &&
        a < box.leftEnd &&
        box.rightStart + SNAKE_LINES <= c &&
        c < box.rightEnd;
      if (gain <= HEURISTIC_GAIN * cost || gain <= best || !isInside) continue;
      let same = 1;
      while (same <= SNAKE_LINES && this.left[a - same] === this.right[c - same]) same++;
      if (same <= SNAKE_LINES) continue;
      best = gain;
      split = { left: a, right: c };
    }
    return split;
  }

  /** The best path from the back that has just passed a long snake. */
  private splitAtBackSnake(
    box: Box,
    cost: number,
    low: number,
    high: number,
    middle: number,
  ): Split | undefined {
    let best = 0;
    let split: Split | undefined;
    for (let diagonal = high; diagonal >= low; diagonal -= 2) {
      const a = this.back[this.origin + diagonal] as number;
      const c = a - diagonal;
      const gain = box.leftEnd - a + (box.rightEnd - c) - Math.abs(diagonal - middle);
      const isInside =
        box.leftStart < a &&
        a <= box.leftEnd - SNAKE_LINES &&
        box.rightStart < c &&
        c <= box.rightEnd - SNAKE_LINES;
      if (gain <= HEURISTIC_GAIN * cost || gain <= best || !isInside) continue;
      let same = 0;
      while (same < SNAKE_LINES && this.left[a + same] === this.right[c + same]) same++;
      if (same < SNAKE_LINES) continue;
      best = gain;
      split = { left: a, right: c };
    }
    return split;
  }

  /** The furthest path from either end, used when the search has become too expensive. */
  private splitAtFurthest(
    box: Box,
    frontLow: number,
    frontHigh: number,
    backLow: number,
    backHigh: number,
  ): Split {
    let frontSum = -1;
    let frontLeft = -1;
    for (let diagonal = frontHigh; diagonal >= frontLow; diagonal -= 2) {
      let a = Math.min(this.front[this.origin + diagonal] as number, box.leftEnd);
      if (box.rightEnd < a - diagonal) a = box.rightEnd + diagonal;
      const sum = a + (a - diagonal);
      if (frontSum < sum) {
        frontSum = sum;
        frontLeft = a;
      }
    }
    let backSum = FAR;
    let backLeft = FAR;
    for (let diagonal = backHigh; diagonal >= backLow; diagonal -= 2) {
      let a = Math.max(this.back[this.origin + diagonal] as number, box.leftStart);
      if (a - diagonal < box.rightStart) a = box.rightStart + diagonal;
      const sum = a + (a - diagonal);
      if (sum < backSum) {
        backSum = sum;
        backLeft = a;
      }
    }
    const left = box.leftEnd + box.rightEnd - backSum;
    return left < frontSum - (box.leftStart + box.rightStart)
      ? { left: frontLeft, right: frontSum - frontLeft }
      : { left: backLeft, right: backSum - backLeft };
  }
}

interface Box {
  readonly leftStart: number;
  readonly leftEnd: number;
  readonly rightStart: number;
  readonly rightEnd: number;
}
