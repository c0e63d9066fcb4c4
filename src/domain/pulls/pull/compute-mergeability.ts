import type { Mergeability } from "../../../db/schema/index.ts";
import { type Budget, finishInTurns, UNLIMITED, withoutLimit } from "../../../git/budget.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { mergeCommits } from "../../../git/merge/merge-commits.ts";
import type { ObjectSink } from "../../../git/merge/new-objects.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { divergenceInTurns, latestOf } from "../../../git/walk/merge-bases.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findChangedFiles } from "../../code/commits/compare-revisions.ts";

/** Maximum paths with conflicts that are stored. */
const CONFLICTS_MAX = 100;

/** Whether a head can be merged into a base, and the size of its changes. */
export interface MergeabilityResult {
  readonly mergeState: Exclude<Mergeability, "checking">;
  /** "" for unrelated histories. */
  readonly mergeBaseOid: string;
  readonly conflictPaths: string[];
  readonly additions: number;
  readonly deletions: number;
  readonly changedFiles: number;
  /** The commits that only the head, and only the base reaches. */
  readonly aheadCount: number;
  readonly behindCount: number;
  /** The tree of the merge; undefined unless it is `mergeable`. */
  readonly treeOid?: string;
}

/**
 * Computes whether a head can be merged into a base, and what it changes since their merge base.
 *
 * The same two commits always give the same result, within the bounds of merges and comparisons.
 *
 * @param write Receives the new objects of a merge, if it is `mergeable`.
 * @param budget Bounds the work of merging files; a merge that exceeds it is an `error`.
 */
export async function computeMergeability(
  repository: OpenRepository,
  base: Node,
  head: Node,
  write: ObjectSink = () => undefined,
  budget: Budget = UNLIMITED,
): Promise<MergeabilityResult> {
  const { graph } = repository;
  const { left, right, bases } = await finishInTurns(
    divergenceInTurns(graph, base, head),
    withoutLimit(repository.objects.budget),
  );
  const mergeBase = latestOf(graph, bases);
  const baseTree = mergeBase === undefined ? undefined : await graph.loadRootOid(mergeBase);
  const headTree = await graph.loadRootOid(head);
  const counts = {
    ...(await countChanges(repository, baseTree, headTree)),
    mergeBaseOid: mergeBase === undefined ? "" : graph.oid(mergeBase),
    aheadCount: right.length,
    behindCount: left.length,
    conflictPaths: [],
  };
  if (right.length === 0) return { ...counts, mergeState: "ancestor" };
  if (baseTree === headTree) return { ...counts, mergeState: "empty" };
  return { ...counts, ...(await tryMerge(repository, base, head, write, budget)) };
}

/**
 * Counts the changes between two trees; zeros if they exceed the limits of a comparison.
 *
 * @param baseTree Undefined for the empty tree.
 */
export async function countChanges(
  repository: OpenRepository,
  baseTree: Oid | undefined,
  headTree: Oid | undefined,
): Promise<Pick<MergeabilityResult, "additions" | "deletions" | "changedFiles">> {
  const files = (await findChangedFiles(repository, baseTree, headTree)) ?? [];
  return {
    additions: files.reduce((sum, { stat }) => sum + (stat?.added ?? 0), 0),
    deletions: files.reduce((sum, { stat }) => sum + (stat?.removed ?? 0), 0),
    changedFiles: files.length,
  };
}

async function tryMerge(
  { graph, objects }: OpenRepository,
  base: Node,
  head: Node,
  write: ObjectSink,
  budget: Budget,
): Promise<Pick<MergeabilityResult, "mergeState" | "conflictPaths" | "treeOid">> {
  try {
    const merge = await mergeCommits(graph, objects, base, head, write, { budget });
    if (merge.kind === "merged") {
      return { mergeState: "mergeable", conflictPaths: [], treeOid: merge.treeOid };
    }
    const paths = [...new Set(merge.paths.map(({ path }) => decodeText(path).toWellFormed()))];
    return { mergeState: "conflict", conflictPaths: paths.slice(0, CONFLICTS_MAX) };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { mergeState: "error", conflictPaths: [] };
  }
}
