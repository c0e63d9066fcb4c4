import type { Budget } from "../budget.ts";
import { roughSquareRoot } from "./myers.ts";

/**
 * A line that occurs this often on the other side always counts as frequent; in short texts fewer
 * suffice.
 */
const FREQUENT_MAX = 1024;
/** How many neighbours of a frequent line are examined in each direction, in lines. */
const WINDOW_LINES = 100;
const STEPS_PER_NEIGHBOUR = 0.2;
/** Weight of frequent neighbours relative to neighbours without a match. */
const FREQUENT_WEIGHT = 4;

// Classes of lines before the comparison.
const WITHOUT_MATCH = 0;
const PLAIN = 1;
const FREQUENT = 2;

/**
 * Picks the lines to compare: lines with a match on the other side, except frequent lines
 * surrounded by lines without a match. Lines that are not picked count as changed.
 *
 * @param numbers Lines of this side.
 * @param start First line after the common beginning.
 * @param end End of the range (exclusive): the first line of the common end.
 * @param others How often each line number occurs on the other side.
 */
export function pickComparable(
  numbers: Int32Array,
  start: number,
  end: number,
  others: Uint32Array,
  budget: Budget,
): Int32Array {
  budget.consume(end - start);
  const limit = Math.min(roughSquareRoot(numbers.length), FREQUENT_MAX);
  const classOf = new Uint8Array(numbers.length);
  for (let line = start; line < end; line++) {
    const matches = others[numbers[line] as number] as number;
    classOf[line] = matches === 0 ? WITHOUT_MATCH : matches >= limit ? FREQUENT : PLAIN;
  }
  const picked: number[] = [];
  for (let line = start; line < end; line++) {
    const own = classOf[line];
    if (own === PLAIN || (own === FREQUENT && !isLost(classOf, line, start, end - 1, budget))) {
      picked.push(line);
    }
  }
  return Int32Array.from(picked);
}

/**
 * True for a frequent line among lines without a match: it could match anywhere and mislead the
 * diff.
 */
function isLost(
  classOf: Uint8Array,
  line: number,
  first: number,
  last: number,
  budget: Budget,
): boolean {
  const low = Math.max(first, line - WINDOW_LINES);
  const high = Math.min(last, line + WINDOW_LINES);
  const count = (step: number): { without: number; frequent: number } => {
    let without = 0;
    let frequent = 1;
    for (let at = line + step; at >= low && at <= high; at += step) {
      if (classOf[at] === WITHOUT_MATCH) without++;
      else if (classOf[at] === FREQUENT) frequent++;
      else break;
    }
    budget.consume(STEPS_PER_NEIGHBOUR * (without + frequent));
    return { without, frequent };
  };
  const above = count(-1);
  if (above.without === 0) return false;
  const below = count(1);
  if (below.without === 0) return false;
  const frequent = above.frequent + below.frequent;
  return frequent * FREQUENT_WEIGHT < frequent + above.without + below.without;
}
