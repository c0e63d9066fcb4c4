/**
 * Divides names into parts of about the same weight: heaviest first, each into the lightest part so
 * far.
 *
 * @param weights The known weights; a name without one counts as the median, or all equally if no
 *   weight is known.
 * @returns `count` parts, which do not depend on the order of `names`.
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
