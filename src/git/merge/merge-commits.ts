import { encodeText } from "../byte-text.ts";
import { DEFAULT_RENAME_OPTIONS, type RenameOptions } from "../diff/rename-matcher.ts";
import { missing, overLimit } from "../error.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";
import { type CommitGraph, NO_NODE, type Node } from "../walk/commit-graph.ts";
import { findMergeBases } from "../walk/merge-bases.ts";
import type { ConflictStyle } from "./merge-lines.ts";
import type { MergeConflict } from "./merge-state.ts";
import { type ConflictedPath, mergeTrees, type TreesMerge } from "./merge-trees.ts";
import { NewObjects, type ObjectSink } from "./new-objects.ts";

export interface MergeOptions {
  /** What stands behind the conflict markers of each side, such as the name of a branch. */
  readonly labels?: { readonly ours: string; readonly theirs: string };
  readonly style?: ConflictStyle;
  /** Largest content that is merged by lines, in bytes; larger is like binary. */
  readonly contentBytesMax?: number;
  /** Paths that each merge may look at. Directories that one side alone changed count once. */
  readonly pathsMax?: number;
  /** Bytes of trees and merged files that the whole may make. */
  readonly newBytesMax?: number;
  /** Merges of trees that histories with several merge bases may take. */
  readonly mergesMax?: number;
  readonly renames?: RenameOptions;
}

export type CommitMerge =
  | { readonly kind: "merged"; readonly treeOid: Oid }
  | {
      readonly kind: "conflicts";
      /** A tree that shows the conflicts as a checkout would. It is not given to the sink. */
      readonly treeOid: Oid;
      readonly conflicts: readonly MergeConflict[];
      readonly paths: readonly ConflictedPath[];
      /** Reads that tree, beside what is stored. */
      readonly objects: ObjectReader;
    };

/** Digits of a commit's id where it stands for a merge base. */
const BASE_LABEL_DIGITS = 7;

/**
 * Merges two commits as `git merge` does with its strategy `ort`: renames are followed, and of
 * several merge bases one is made by merging them.
 *
 * Git's configuration and `.gitattributes` are not honoured: no merge drivers, no renormalization.
 *
 * Cost: the trees down to what changed, the files both sides changed, and of the files that may have
 * been renamed all contents.
 *
 * @param write Receives the new objects of a clean merge, the root tree last. With conflicts,
 * nothing.
 * @throws GitError `missing` if an object does not exist, `limit` where an option says so.
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
  const made = new NewObjects(objects, options.newBytesMax ?? 32 * 1024 * 1024);
  const merger = new CommitMerger(graph, made, options);
  const merge = await merger.merge(commitOf(graph, ours), commitOf(graph, theirs), 0);
  const { treeOid, conflicts, paths } = merge;
  if (conflicts.length > 0) return { kind: "conflicts", treeOid, conflicts, paths, objects: made };
  made.give(treeOid, write);
  return { kind: "merged", treeOid };
}

/** A commit, or what stands for several merged ones. */
interface MergedCommit {
  /** The commits that it stands for. */
  readonly nodes: readonly Node[];
  readonly treeOid: Oid;
}

function commitOf(graph: CommitGraph, node: Node): MergedCommit {
  if (node === NO_NODE) throw missing("commit to merge");
  const treeOid = graph.rootOid(node);
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
    const [first, ...rest] = this.findBases(ours, theirs);
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
        depth,
        pathsMax: this.options.pathsMax ?? 200_000,
        renames: this.options.renames ?? DEFAULT_RENAME_OPTIONS,
      },
    );
  }

  /** The merge bases, oldest first. */
  private findBases(ours: MergedCommit, theirs: MergedCommit): MergedCommit[] {
    // What stands for several commits is nobody's ancestor: a merge of them has the same bases.
    const [several, one] = ours.nodes.length > 1 ? [ours, theirs] : [theirs, ours];
    const { times } = this.graph;
    const nodes = findMergeBases(this.graph, one.nodes[0] as Node, several.nodes);
    const byTime = nodes.toSorted((a, b) => (times[b] as number) - (times[a] as number));
    return byTime.toReversed().map((node) => commitOf(this.graph, node));
  }

  private baseLabel(base: MergedCommit | undefined): string {
    const [node, another] = base?.nodes ?? [];
    if (node === undefined) return "empty tree";
    if (another !== undefined) return "merged common ancestors";
    return this.graph.oid(node).slice(0, BASE_LABEL_DIGITS);
  }
}
