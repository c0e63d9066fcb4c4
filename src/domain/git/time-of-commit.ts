import type { Oid } from "../../git/oid.ts";
import { NO_NODE } from "../../git/walk/commit-graph.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/** When a commit was made, in seconds, without reading it; 0 for anything else. */
export function timeOfCommit({ repository: { graph } }: RepositorySnapshot, oid: Oid): number {
  const node = graph.find(oid);
  return node === NO_NODE ? 0 : (graph.times[node] as number);
}
