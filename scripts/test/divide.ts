/**
 * Divides things into parts of about the same weight: the heaviest first, each to the part that is lightest.
 *
 * @param weights What is known; a thing of unknown weight counts as the median, and all alike where nothing is known.
 * @returns As many parts as `count`, the same for the same things in any order.
 */
export function divide(
  names: readonly string[],
  weights: ReadonlyMap<string, number>,
  count: number,
): string[][] {
  const median = medianOf(names.flatMap((name) => weights.get(name) ?? []));
  const weightOf = (name: string): number => weights.get(name) ?? median;
  const parts = Array.from({ length: count }, () => ({ names: [] as string[], weight: 0 }));
  const heaviestFirst = names.toSorted().toSorted((one, other) => weightOf(other) - weightOf(one));
  for (const name of heaviestFirst) {
    const lightest = parts.reduce((one, other) => (other.weight < one.weight ? other : one));
    lightest.names.push(name);
    lightest.weight += weightOf(name);
  }
  return parts.map((part) => part.names);
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 1;
}
