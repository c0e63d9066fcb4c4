/** Returns the fields of `wanted` whose values differ from those of `current`, compared as JSON. */
export function differing<T extends object>(
  current: Readonly<Record<keyof T, unknown>>,
  wanted: T,
): Partial<T> {
  const entries = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(current[name as keyof T]) !== JSON.stringify(value),
  );
  return Object.fromEntries(entries) as Partial<T>;
}
