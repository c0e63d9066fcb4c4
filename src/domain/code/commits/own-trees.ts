import { EMPTY_TREE_OID, type Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";

/** The trees between which a commit's own changes are. */
export interface OwnTrees {
  /** The tree of the first parent; undefined for a commit without parents. */
  readonly oldTreeOid: Oid | undefined;
  readonly newTreeOid: Oid;
}

/** Finds the trees of a commit and of its first parent. */
export async function findOwnTrees(graph: CommitGraph, node: Node): Promise<OwnTrees> {
  const [parent = NO_NODE] = graph.parents(node);
  return {
    oldTreeOid: parent === NO_NODE ? undefined : await graph.loadRootOid(parent),
    newTreeOid: (await graph.loadRootOid(node)) ?? EMPTY_TREE_OID,
  };
}
