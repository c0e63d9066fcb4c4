import { entityKind, hasOwnEntityKind, is as walk } from "drizzle-orm/entity";

export { entityKind, hasOwnEntityKind };

/** Answers of `is` by class, then by the prototype of the value. */
const answers = new WeakMap<object, WeakMap<object, boolean>>();

/**
 * Drizzle's `is`, which asks whether a value is an instance of one of Drizzle's classes, with its answers
 * remembered.
 *
 * Drizzle asks this of each column of each query it builds and of each row it maps, several times each, and
 * walks the value's classes every time. The answer follows from the class asked about and the prototype of the
 * value alone. The prototype, not `value.constructor`: aliased tables and columns of subqueries are proxies that
 * answer for any property, `constructor` included.
 *
 * The builds put this module in the place of Drizzle's own (`[alias]` in wrangler.toml, `alias` in
 * vitest.config.ts). It goes once Drizzle's `is` no longer walks.
 *
 * @throws Error for a class that is not Drizzle's, as the original does; nothing is remembered then.
 */
export const is = function is(value: unknown, type: Parameters<typeof walk>[1]): boolean {
  if (!value || typeof value !== "object") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Nothing to remember the answer by: the original has its own answer to such an object.
  if (typeof prototype !== "object" || prototype === null) return walk(value, type);

  let byPrototype = answers.get(type);
  if (!byPrototype) answers.set(type, (byPrototype = new WeakMap()));
  let answer = byPrototype.get(prototype);
  if (answer === undefined) byPrototype.set(prototype, (answer = walk(value, type)));
  return answer;
} as typeof walk;
