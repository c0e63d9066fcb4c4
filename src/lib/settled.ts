/**
 * Waits for all of the work, also where some of it fails, and throws the first failure then.
 *
 * Unlike `Promise.all` it leaves nothing under way: what comes after an error may clean up.
 */
export async function settled(work: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === "rejected") throw result.reason;
  }
}
