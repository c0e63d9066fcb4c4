import { encodeText } from "../../git/byte-text.ts";
import type { Node } from "../../git/walk/commit-graph.ts";
import { type LogRange, logByTime } from "../../git/walk/log.ts";
import { logPath, PathFinder } from "../../git/walk/path-history.ts";
import type { Code } from "../git/open-code.ts";
import type { Listed, Slice } from "../slice.ts";

/** Which commits of a history are listed. */
export interface CommitQuery extends LogRange {
  /** Only those that changed this path. */
  readonly path?: string | undefined;
  /** Later commits are passed over, but what they lead to is not. */
  readonly untilSeconds?: number;
}

/**
 * Commits latest first, as `git log` shows them, with how many there are.
 *
 * Cost: the whole history asked for, since its length is told too; with a path also the trees down
 * to it.
 */
export async function listCommits(
  { repository: { catalog, graph, objects } }: Code,
  query: CommitQuery,
  { size, offset }: Slice,
): Promise<Listed<Node>> {
  const { path, untilSeconds = Number.POSITIVE_INFINITY } = query;
  const log =
    path === undefined
      ? logByTime(graph, query)
      : logPath(graph, new PathFinder(catalog, objects, encodeText(path)), query);
  const items: Node[] = [];
  let total = 0;
  for await (const node of log) {
    if ((graph.times[node] as number) > untilSeconds) continue;
    if (total >= offset && total < offset + size) items.push(node);
    total++;
  }
  return { items, total };
}
