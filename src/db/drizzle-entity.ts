import { entityKind, hasOwnEntityKind, is as walk } from "drizzle-orm/entity";

export { entityKind, hasOwnEntityKind };

/** Results of `is` by class, then by the prototype of the value. */
const results = new WeakMap<object, WeakMap<object, boolean>>();

/**
 * Drizzle's `is`, which checks whether a value is an instance of one of Drizzle's classes, with a
 * cache.
 *
 * Drizzle calls `is` several times for each column of each query it builds and of each row it maps,
 * and walks the value's class chain every time. The result depends only on the class and the
 * value's prototype. The cache is keyed by the prototype rather than by `value.constructor`,
 * because aliased tables and columns of subqueries are proxies that return a value for any
 * property, `constructor` included.
 *
 * The builds replace Drizzle's own module by this one (`[alias]` in wrangler.toml, `alias` in
 * vitest.config.ts). Remove it once Drizzle's `is` no longer walks the chain.
 *
 * @throws Error for a class that is not Drizzle's, as the original does; nothing is cached then.
 */
export const is = function is(value: unknown, type: Parameters<typeof walk>[1]): boolean {
  if (!value || typeof value !== "object") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // A value without a prototype has no cache key: the original handles it.
  if (typeof prototype !== "object" || prototype === null) return walk(value, type);

  let byPrototype = results.get(type);
  if (!byPrototype) results.set(type, (byPrototype = new WeakMap()));
  let result = byPrototype.get(prototype);
  if (result === undefined) byPrototype.set(prototype, (result = walk(value, type)));
  return result;
} as typeof walk;
