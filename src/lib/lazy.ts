/**
 * A value that is made at the first call and returned by all others.
 *
 * For constants that take time to make: what a module makes when it is loaded, every cold start waits for.
 */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
