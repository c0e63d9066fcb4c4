import { type Budget, finishInTurns, withoutLimit } from "../budget.ts";
import { encodeText } from "../byte-text.ts";
import { DEFAULT_RENAME_OPTIONS, type RenameOptions } from "../diff/rename-matcher.ts";
import { missing, overLimit } from "../error.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { type CommitGraph, NO_NODE, type Node } from "../walk/commit-graph.ts";
import { mergeBasesInTurns } from "../walk/merge-bases.ts";
import type { ConflictStyle } from "./merge-lines.ts";
import type { MergeConflict } from "./merge-state.ts";
import { type ConflictedPath, mergeTrees, type TreesMerge } from "./merge-trees.ts";
import { NewObjects, type ObjectSink } from "./new-objects.ts";

export interface MergeOptions {
  /** Labels after the conflict markers of each side, such as branch names. */
  readonly labels?: { readonly ours: string; readonly theirs: string };
  readonly style?: ConflictStyle;
  /** Largest content that is merged by lines, in bytes; larger content is treated as binary. */
  readonly contentBytesMax?: number;
  /**
   * Maximum paths that each merge may visit. A directory that only one side changed counts once.
   */
  readonly pathsMax?: number;
  /** Maximum bytes of trees and merged files that the merge may create in total. */
  readonly newBytesMax?: number;
  /** Maximum number of tree merges, for histories with several merge bases. */
  readonly mergesMax?: number;
  readonly renames?: RenameOptions;
  /** Bounds the work of merging files by lines. */
  readonly budget?: Budget;
}

export type CommitMerge =
  | { readonly kind: "merged"; readonly treeOid: Oid }
  | {
      readonly kind: "conflicts";
      /** A tree that shows the conflicts as a checkout would. It is not passed to the sink. */
      readonly treeOid: Oid;
      readonly conflicts: readonly MergeConflict[];
      readonly paths: readonly ConflictedPath[];
      /** Reads the stored objects and the objects of that tree. */
      readonly objects: ObjectReader;
    };

/** Digits of a commit id in the label of a merge base. */
const BASE_LABEL_DIGITS = 7;

/**
 * Merges two commits as `git merge` does with its strategy `ort`: renames are followed, and several
 * merge bases are first merged into one.
 *
 * Git's configuration and `.gitattributes` are not honoured: no merge drivers, no renormalization.
 *
 * Cost: reads the trees down to the changes, the files that both sides changed, and the contents of
 * all files that may have been renamed.
 *
 * @param write Receives the new objects of a clean merge, the root tree last. With conflicts it is
 * not called.
 * @throws GitError `missing` if an object does not exist, `limit` if a bound of the options is
 *   exceeded.
 * @see git-merge(1), "MERGE STRATEGIES"; git-merge-tree(1).
 */
export async function mergeCommits(
  graph: CommitGraph,
  objects: ObjectReader,
  ours: Node,
  theirs: Node,
  write: ObjectSink,
  options: MergeOptions = {},
): Promise<CommitMerge> {
  const newObjects = new NewObjects(objects, options.newBytesMax ?? 32 * 1024 * 1024);
  const merger = new CommitMerger(graph, newObjects, options);
  const [our, their] = [await commitOf(graph, ours), await commitOf(graph, theirs)];
  const merge = await merger.merge(our, their, 0);
  const { treeOid, conflicts, paths } = merge;
  if (conflicts.length > 0)
    return { kind: "conflicts", treeOid, conflicts, paths, objects: newObjects };
  newObjects.give(treeOid, write);
  return { kind: "merged", treeOid };
}

/** A commit, or the virtual commit that results from merging several merge bases. */
interface MergedCommit {
  /** The commit itself, or the merged commits. */
  readonly nodes: readonly Node[];
  readonly treeOid: Oid;
}

async function commitOf(graph: CommitGraph, node: Node): Promise<MergedCommit> {
  if (node === NO_NODE) throw missing("commit to merge");
  const treeOid = await graph.loadRootOid(node);
  if (treeOid === undefined) throw missing(`tree of commit ${graph.oid(node)}`);
  return { nodes: [node], treeOid };
}

class CommitMerger {
  private readonly graph: CommitGraph;
  private readonly objects: NewObjects;
  private readonly options: MergeOptions;
  private mergesLeft: number;

  constructor(graph: CommitGraph, objects: NewObjects, options: MergeOptions) {
    this.graph = graph;
    this.objects = objects;
    this.options = options;
    this.mergesLeft = options.mergesMax ?? 100;
  }

  async merge(ours: MergedCommit, theirs: MergedCommit, depth: number): Promise<TreesMerge> {
    const [first, ...rest] = await this.findBases(ours, theirs);
    let base = first;
    for (const next of rest) {
      const { treeOid } = await this.merge(base as MergedCommit, next, depth + 1);
      base = { nodes: [...(base as MergedCommit).nodes, ...next.nodes], treeOid };
    }
    if (this.mergesLeft-- === 0) throw overLimit("too many merge bases");
    const { labels, style = "merge", contentBytesMax = 4 * 1024 * 1024 } = this.options;
    const ourLabel = depth === 0 ? (labels?.ours ?? "ours") : "Temporary merge branch 1";
    const theirLabel = depth === 0 ? (labels?.theirs ?? "theirs") : "Temporary merge branch 2";
    return mergeTrees(
      this.objects,
      [base?.treeOid ?? EMPTY_TREE_OID, ours.treeOid, theirs.treeOid],
      {
        labels: {
          base: encodeText(this.baseLabel(base)),
          ours: encodeText(ourLabel),
          theirs: encodeText(theirLabel),
        },
        style,
        contentBytesMax,
        budget: this.options.budget ?? withoutLimit(this.objects.budget),
        depth,
        pathsMax: this.options.pathsMax ?? 200_000,
        renames: this.options.renames ?? DEFAULT_RENAME_OPTIONS,
      },
    );
  }

  /** The merge bases, oldest first. */
  private async findBases(ours: MergedCommit, theirs: MergedCommit): Promise<MergedCommit[]> {
    // A virtual commit is an ancestor of no commit, so the bases are those of a merge of its
    // commits.
    const [several, one] = ours.nodes.length > 1 ? [ours, theirs] : [theirs, ours];
    const { times } = this.graph;
    const nodes = await finishInTurns(
      mergeBasesInTurns(this.graph, one.nodes[0] as Node, several.nodes),
      this.options.budget ?? withoutLimit(this.objects.budget),
    );
    const byTime = nodes.toSorted((a, b) => (times[b] as number) - (times[a] as number));
    const bases: MergedCommit[] = [];
    for (const node of byTime.toReversed()) bases.push(await commitOf(this.graph, node));
    return bases;
  }

  private baseLabel(base: MergedCommit | undefined): string {
    const [node, another] = base?.nodes ?? [];
    if (node === undefined) return "empty tree";
    if (another !== undefined) return "merged common ancestors";
    return this.graph.oid(node).slice(0, BASE_LABEL_DIGITS);
  }
}
