import type { ObjectReader } from "../store.ts";
import type { CommitGraph, Node } from "../walk/commit-graph.ts";
import { findDivergence, isAncestor, latestOf } from "../walk/merge-bases.ts";
import { mergeCommits } from "./merge-commits.ts";

/**
 * Whether a branch offers its base the same change as before: what merging the base into its former
 * head gives, and nothing else. So it is after such a merge, after a rebase without conflicts, and
 * where commits are only squashed, split or reworded.
 *
 * Contents are compared, not patches: a patch that applies in another place, or with other white
 * space, is another change.
 *
 * Cost: a merge, where the head has commits of the base that the former one has not.
 *
 * @throws GitError as `mergeCommits`.
 */
export async function isSameChange(
  graph: CommitGraph,
  objects: ObjectReader,
  base: Node,
  former: Node,
  head: Node,
): Promise<boolean> {
  const forkOf = (node: Node) => latestOf(graph, findDivergence(graph, base, node).bases);
  const [formerFork, fork] = [forkOf(former), forkOf(head)];
  if (formerFork === undefined || fork === undefined) return false;
  // SECURITY: a head that goes back behind commits of the base may offer to undo them.
  if (!isAncestor(graph, formerFork, fork)) return false;
  const headTree = await graph.loadRootOid(head);
  if (isAncestor(graph, fork, former)) return (await graph.loadRootOid(former)) === headTree;
  const merge = await mergeCommits(graph, objects, former, fork, () => undefined);
  return merge.kind === "merged" && merge.treeOid === headTree;
}
