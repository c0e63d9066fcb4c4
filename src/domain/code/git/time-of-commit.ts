import type { Oid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/**
 * The committer time of a commit in seconds, from the graph without reading the object; 0 for other
 * objects.
 */
export function timeOfCommit({ repository: { graph } }: RepositorySnapshot, oid: Oid): number {
  const node = graph.find(oid);
  return node === NO_NODE ? 0 : (graph.times[node] as number);
}
