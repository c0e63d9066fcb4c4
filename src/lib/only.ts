/**
 * Returns the element of a list that must hold exactly one.
 *
 * @throws Error if the list is empty or has several elements, which is a bug and not the caller's
 *   mistake.
 */
export function only<T>(list: readonly T[] | undefined): T {
  const [first, ...rest] = list ?? [];
  if (first === undefined || rest.length > 0) {
    throw new Error(`expected exactly one element, got ${list?.length ?? 0}`);
  }
  return first;
}
