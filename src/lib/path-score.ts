/** A path with how well it fits a query. */
export interface ScoredPath {
  readonly path: string;
  readonly score: number;
}

/** The text that a person typed as `scorePath` takes it. */
export const toPathQuery = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, "");

/** Kinds of fits, the best last; within a kind, characters close together and short paths win. */
const ANYWHERE = 1;
const IN_NAME = 2;
const WITHIN_PATH = 3;
const WITHIN_NAME = 4;
const START_OF_NAME = 5;
const WHOLE_NAME = 6;

const KIND_POINTS = 10_000_000;
const GAP_POINTS = 1000;
const LENGTH_MAX = GAP_POINTS - 1;

/**
 * How well a path fits a query: undefined if it does not have all of its characters in order.
 *
 * Cost: linear in the length of the path.
 *
 * @param query As `toPathQuery` makes it.
 */
export function scorePath(path: string, query: string): number | undefined {
  const lower = path.toLowerCase();
  const nameStart = lower.lastIndexOf("/") + 1;
  const length = Math.min(path.length, LENGTH_MAX);
  if (lower.includes(query)) return KIND_POINTS * kindOf(lower, nameStart, query) - length;
  // Backwards, since the end of a path says most about it.
  let at = lower.length;
  let end = 0;
  for (let next = query.length - 1; next >= 0; next--) {
    if (at === 0) return undefined;
    at = lower.lastIndexOf(query.charAt(next), at - 1);
    if (at < 0) return undefined;
    if (end === 0) end = at + 1;
  }
  const gaps = Math.min(end - at - query.length, LENGTH_MAX);
  const kind = at >= nameStart ? IN_NAME : ANYWHERE;
  return KIND_POINTS * kind - GAP_POINTS * gaps - length;
}

/** The kind of a path that has the query as it is. */
function kindOf(lower: string, nameStart: number, query: string): number {
  if (lower.startsWith(query, nameStart)) {
    return lower.length - nameStart === query.length ? WHOLE_NAME : START_OF_NAME;
  }
  return lower.includes(query, nameStart) ? WITHIN_NAME : WITHIN_PATH;
}

/** The paths with the highest scores, in their order. */
export const bestPaths = (scored: readonly ScoredPath[], max: number): string[] =>
  scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, max)
    .map(({ path }) => path);
