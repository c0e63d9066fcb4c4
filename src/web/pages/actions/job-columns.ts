/** A job with what it needs. */
interface Needing {
  readonly jobId: string;
  readonly needs: readonly string[];
}

/**
 * Jobs in columns: each stands in the one after the last of those that it needs. What the file
 * can't have, a circle or an unknown need, counts as none.
 */
export function toJobColumns<T extends Needing>(jobs: readonly T[]): T[][] {
  const needsOf = new Map(jobs.map(({ jobId, needs }) => [jobId, needs]));
  const depths = new Map<string, number>();
  const depthOf = (key: string): number => {
    const known = depths.get(key);
    if (known !== undefined) return known;
    // For a circle.
    depths.set(key, 0);
    const needed = (needsOf.get(key) ?? []).filter((each) => needsOf.has(each));
    const depth = needed.reduce((most, each) => Math.max(most, depthOf(each) + 1), 0);
    depths.set(key, depth);
    return depth;
  };
  const columns: T[][] = [];
  for (const job of jobs) (columns[depthOf(job.jobId)] ??= []).push(job);
  return columns.filter((column) => column !== undefined);
}
