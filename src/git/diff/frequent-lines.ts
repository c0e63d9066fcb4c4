import { roughSquareRoot } from "./myers.ts";

/** Lines that the other side has this often, at most, say nothing about where they belong. */
const FREQUENT_MAX = 1024;
/** How far around a frequent line its neighbours are looked at, in lines. */
const WINDOW_LINES = 100;
/** Weight of frequent neighbours against those that have no match at all. */
const FREQUENT_WEIGHT = 4;

// What is known of a line before the comparison.
const WITHOUT_MATCH = 0;
const PLAIN = 1;
const FREQUENT = 2;

/**
 * Picks the lines that take part in the comparison: those with a match on the other side, without
 * the frequent ones that stand among lines without any. What is left out counts as changed.
 *
 * @param numbers Lines of this side.
 * @param start First line that is not in the common beginning.
 * @param end Behind the last line that is not in the common end.
 * @param others How often each number occurs on the other side.
 */
export function pickComparable(
  numbers: Int32Array,
  start: number,
  end: number,
  others: Uint32Array,
): Int32Array {
  const limit = Math.min(roughSquareRoot(numbers.length), FREQUENT_MAX);
  const standing = new Uint8Array(numbers.length);
  for (let line = start; line < end; line++) {
    const matches = others[numbers[line] as number] as number;
    standing[line] = matches === 0 ? WITHOUT_MATCH : matches >= limit ? FREQUENT : PLAIN;
  }
  const picked: number[] = [];
  for (let line = start; line < end; line++) {
    const own = standing[line];
    if (own === PLAIN || (own === FREQUENT && !isLost(standing, line, start, end - 1))) {
      picked.push(line);
    }
  }
  return Int32Array.from(picked);
}

/** True for a frequent line among lines without match: it would match anywhere, and mislead. */
function isLost(standing: Uint8Array, line: number, first: number, last: number): boolean {
  const low = Math.max(first, line - WINDOW_LINES);
  const high = Math.min(last, line + WINDOW_LINES);
  const count = (step: number): { without: number; frequent: number } => {
    let without = 0;
    let frequent = 1;
    for (let at = line + step; at >= low && at <= high; at += step) {
      if (standing[at] === WITHOUT_MATCH) without++;
      else if (standing[at] === FREQUENT) frequent++;
      else break;
    }
    return { without, frequent };
  };
  const above = count(-1);
  if (above.without === 0) return false;
  const below = count(1);
  if (below.without === 0) return false;
  const frequent = above.frequent + below.frequent;
  return frequent * FREQUENT_WEIGHT < frequent + above.without + below.without;
}
