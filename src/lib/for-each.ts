import { settled } from "./settled.ts";

/**
 * Does the same work for each item, a few at once. One that fails does not keep the others from it.
 *
 * @throws The first failure, when all are done.
 */
export async function forEach<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  const left = items.values();
  // All workers take from the same iterator.
  const next = async (): Promise<void> => {
    for (const item of left) {
      await work(item).catch((error: unknown) => void failures.push(error));
    }
  };
  await settled(Array.from({ length: atOnce }, next));
  if (failures.length > 0) throw failures[0];
}
