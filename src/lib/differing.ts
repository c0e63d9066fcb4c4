/** Returns the fields of `next` whose values differ from those of `current`, compared as JSON. */
export function differing<T extends object>(
  current: Readonly<Record<keyof T, unknown>>,
  next: T,
): Partial<T> {
  const entries = Object.entries(next).filter(
    ([name, value]) => JSON.stringify(current[name as keyof T]) !== JSON.stringify(value),
  );
  return Object.fromEntries(entries) as Partial<T>;
}
