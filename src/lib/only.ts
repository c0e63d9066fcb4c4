/**
 * The one element of a list that must hold exactly one.
 *
 * @throws Error when it holds none or several: a broken promise of ours, not of the caller's.
 */
export function only<T>(list: readonly T[] | undefined): T {
  const [first, ...rest] = list ?? [];
  if (first === undefined || rest.length > 0) {
    throw new Error(`expected exactly one element, got ${list?.length ?? 0}`);
  }
  return first;
}
