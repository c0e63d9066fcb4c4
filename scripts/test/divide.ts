/**
 * Divides names into parts of about the same weight: heaviest first, each into the lightest part so
 * far.
 *
 * @returns `count` parts, which do not depend on the order of `weights`.
 */
export function divide(weights: ReadonlyMap<string, number>, count: number): string[][] {
  const parts = Array.from({ length: count }, () => ({ names: [] as string[], weight: 0 }));
  const byName = [...weights].toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [name, weight] of byName.toSorted(([, one], [, other]) => other - one)) {
    const lightest = parts.reduce((one, other) => (other.weight < one.weight ? other : one));
    lightest.names.push(name);
    lightest.weight += weight;
  }
  return parts.map((part) => part.names);
}
