import type { Oid } from "../../git/oid.ts";
import { NO_NODE } from "../../git/walk/commit-graph.ts";
import type { Code } from "./open-code.ts";

/** When a commit was made, in seconds, without reading it; 0 for anything else. */
export function timeOfCommit({ repository: { graph } }: Code, oid: Oid): number {
  const node = graph.find(oid);
  return node === NO_NODE ? 0 : (graph.times[node] as number);
}
