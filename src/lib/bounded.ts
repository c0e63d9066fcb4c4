import { z } from "zod";

// Zod validates all items before it counts them, and reports every fault of each: a megabyte of
// `{}` would take seconds, and some hundred times its size in memory. These count first, and end
// at the first fault.

/** A list of at most `max` items. */
export const boundedList = <T>(item: z.ZodType<T>, max = Number.POSITIVE_INFINITY) =>
  z.unknown().transform((given, context): T[] => {
    if (!Array.isArray(given)) return refuse(context, "must be a list");
    if (given.length > max) return refuse(context, `must have at most ${max} items`);
    const items: T[] = [];
    for (const [at, each] of given.entries()) {
      const { data, error } = item.safeParse(each);
      if (error) return refuse(context, error, at);
      items.push(data);
    }
    return items;
  });

/** An object of at most `max` keys, whose values are all of one kind. */
export const boundedRecord = <T>(
  value: z.ZodType<T>,
  max: number,
  key: z.ZodType<string> = z.string(),
) =>
  z.unknown().transform((given, context): Record<string, T> => {
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      return refuse(context, "must be an object");
    }
    const entries = Object.entries(given);
    if (entries.length > max) return refuse(context, `must have at most ${max} keys`);
    const values: [string, T][] = [];
    for (const [name, each] of entries) {
      const [named, read] = [key.safeParse(name), value.safeParse(each)];
      const error = named.error ?? read.error;
      if (error) return refuse(context, error, name);
      values.push([name, read.data as T]);
    }
    return Object.fromEntries(values);
  });

/** Reports the first fault, which the value at `at` has. */
function refuse(
  context: z.core.$RefinementCtx,
  fault: string | z.ZodError,
  at?: PropertyKey,
): never {
  const issue = typeof fault === "string" ? undefined : fault.issues[0];
  context.addIssue({
    code: "custom",
    message: issue?.message ?? String(fault),
    path: [...(at === undefined ? [] : [at]), ...(issue?.path ?? [])],
  });
  return z.NEVER;
}
