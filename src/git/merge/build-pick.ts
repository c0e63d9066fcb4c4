import { missing } from "../error.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { type CommitGraph, NO_NODE, type Node } from "../walk/commit-graph.ts";
import { type BuiltMerge, type MergeWriter, NEW_BYTES_MAX } from "./build-merge.ts";
import { CollectedObjects } from "./collected-objects.ts";
import { mergeTrees } from "./merge-trees.ts";
import { NewObjects } from "./new-objects.ts";
import { pickOptions } from "./rebase-commits.ts";

/** A change, and the commit to which it is made. */
export interface PickedChange {
  readonly graph: CommitGraph;
  readonly objects: ObjectReader;
  readonly tip: Node;
  /**
   * The commits between which the change is; `NO_NODE` stands for an empty tree. A cherry-pick
   * leads from a commit's parent to the commit, a revert from the commit to its parent.
   */
  readonly from: Node;
  readonly to: Node;
}

/** The commit with the change, or why there is none. */
export type BuiltPick = Extract<BuiltMerge, { kind: "built" | "conflicts" | "unchanged" }>;

/**
 * Builds one commit that makes a change to `tip`, in memory: as `git revert` and `git cherry-pick`
 * do, by a three-way merge whose base is `from`.
 *
 * Cost: as a merge of trees.
 *
 * @throws GitError `missing` if an object does not exist, `limit` for a change that is too large.
 * @see git-revert(1), git-cherry-pick(1).
 */
export async function buildPick(
  { graph, objects, tip, from, to }: PickedChange,
  writer: MergeWriter,
): Promise<BuiltPick> {
  const trees = new NewObjects(objects, NEW_BYTES_MAX);
  const tipOid = graph.oid(tip);
  const tipTree = await rootOf(graph, tip);
  const merge = await mergeTrees(
    trees,
    [await rootOf(graph, from), tipTree, await rootOf(graph, to)],
    pickOptions(tipOid, objects.budget),
  );
  if (merge.conflicts.length > 0) return { kind: "conflicts", paths: merge.paths };
  const { treeOid } = merge;
  if (treeOid === tipTree) return { kind: "unchanged" };
  const pack = new CollectedObjects();
  trees.give(treeOid, pack.add);
  const { message, author, committer } = writer;
  const commit = { treeOid, parentOids: [tipOid], author, committer, message };
  const pickedOid = pack.add("commit", await writer.format(commit));
  return { kind: "built", tipOid: pickedOid, objects: pack.list() };
}

async function rootOf(graph: CommitGraph, node: Node): Promise<Oid> {
  if (node === NO_NODE) return EMPTY_TREE_OID;
  const treeOid = await graph.loadRootOid(node);
  if (treeOid === undefined) throw missing(`tree of commit ${graph.oid(node)}`);
  return treeOid;
}
