import type { Revision } from "./find-revision.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/** The end of the year 9999, in seconds; commit times are arbitrary client input. */
const SECONDS_MAX = 253_402_300_799;

/** The time of a revision's commit in milliseconds, as the date of what is read of it. */
export const revisionTime = (
  { repository: { graph } }: RepositorySnapshot,
  { node }: Pick<Revision, "node">,
): number => Math.min(graph.times[node] as number, SECONDS_MAX) * 1000;
