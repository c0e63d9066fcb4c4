/**
 * Waits until all promises have settled, then throws the first rejection, if any.
 *
 * Unlike with `Promise.all`, no work is still running when it throws, so the caller can clean up
 * safely.
 */
export async function settled(work: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === "rejected") throw result.reason;
  }
}
