import { settled } from "../lib/settled.ts";

/** Requests at a time: the platform has six connections for a request, and forges dislike more. */
const PARALLEL = 5;

/** Maps items by requests, some at a time. When it throws, no request is still running. */
export async function mapInParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += PARALLEL) {
    const batch = items.slice(at, at + PARALLEL).map((item) => work(item));
    await settled(batch);
    results.push(...(await Promise.all(batch)));
  }
  return results;
}
