import { finishInTurns, withoutLimit } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import type { Commit } from "../object/commit.ts";
import type { Identity } from "../object/identity.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader, StoredObject } from "../store.ts";
import type { CommitGraph, Node } from "../walk/commit-graph.ts";
import { isAncestor, mergeBasesInTurns } from "../walk/merge-bases.ts";
import { CollectedObjects } from "./collected-objects.ts";
import { mergeCommits } from "./merge-commits.ts";
import type { ConflictedPath } from "./merge-trees.ts";
import { NewObjects } from "./new-objects.ts";
import { rebaseCommits } from "./rebase-commits.ts";

/** How a head is merged into a base. */
export type BuildStyle = "merge" | "rebase" | "rebase-merge" | "squash" | "fast-forward-only";

/** The commits to merge. */
export interface MergeEnds {
  readonly graph: CommitGraph;
  readonly objects: ObjectReader;
  readonly base: Node;
  readonly head: Node;
}

/** How the commits of a merge are written. */
export interface MergeWriter {
  /** The message of the commit that the style adds: a merge, or the squashed one. */
  readonly message: ByteText;
  /** The author of that commit. Replayed commits keep theirs. */
  readonly author: Identity;
  readonly committer: Identity;
  /** Formats a commit, and may sign it. */
  format(commit: Omit<Commit, "headers">): Promise<Uint8Array>;
}

export type BuiltMerge =
  | {
      readonly kind: "built";
      /** The commit that the base becomes. */
      readonly tipOid: Oid;
      /**
       * The new objects, each behind those that it refers to; empty where the base only moves
       * forward.
       */
      readonly objects: readonly StoredObject[];
    }
  | { readonly kind: "conflicts"; readonly paths: readonly ConflictedPath[] }
  /** The base has commits of its own, so it can't only move forward. */
  | { readonly kind: "diverged" }
  /** Base and head have no commit in common, which only a rebase joins, as in git. */
  | { readonly kind: "unrelated" }
  /** Nothing of the head is missing in the base. */
  | { readonly kind: "unchanged" };

/** Maximum bytes of all trees and files that a merge creates. */
export const NEW_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Builds the commits that bring a head into a base, in memory:
 * - `merge`: a merge of both, also where the base could only move forward, as `git merge --no-ff`;
 * - `rebase`: the head's commits on top of the base, as `git rebase`;
 * - `rebase-merge`: the same, and a merge of them;
 * - `squash`: one commit with all changes, as `git merge --squash`;
 * - `fast-forward-only`: the head itself.
 *
 * @throws GitError as `mergeCommits` and `rebaseCommits`.
 */
export async function buildMerge(
  ends: MergeEnds,
  style: BuildStyle,
  writer: MergeWriter,
): Promise<BuiltMerge> {
  const { graph, base, head } = ends;
  if (isAncestor(graph, head, base)) return { kind: "unchanged" };
  switch (style) {
    case "merge":
      return mergeOnce(ends, writer, [graph.oid(base), graph.oid(head)]);
    case "squash":
      return mergeOnce(ends, writer, [graph.oid(base)]);
    case "rebase":
    case "rebase-merge":
      return replay(ends, writer, style === "rebase-merge");
    case "fast-forward-only": {
      const isForward = isAncestor(graph, base, head);
      return isForward ? { kind: "built", tipOid: graph.oid(head), objects: [] } : DIVERGED;
    }
    default:
      return style satisfies never;
  }
}

const DIVERGED = { kind: "diverged" } as const;

/** Builds one commit with the merged tree. */
async function mergeOnce(
  { graph, objects, base, head }: MergeEnds,
  writer: MergeWriter,
  parentOids: readonly Oid[],
): Promise<BuiltMerge> {
  const bases = mergeBasesInTurns(graph, base, [head]);
  const [mergeBase] = await finishInTurns(bases, withoutLimit(objects.budget));
  if (mergeBase === undefined) return { kind: "unrelated" };
  const pack = new CollectedObjects();
  const merge = await mergeCommits(graph, objects, base, head, pack.add);
  if (merge.kind === "conflicts") return { kind: "conflicts", paths: merge.paths };
  const isSquash = parentOids.length === 1;
  if (isSquash && merge.treeOid === (await graph.loadRootOid(base))) return { kind: "unchanged" };
  const { message, author, committer } = writer;
  const commit = { treeOid: merge.treeOid, parentOids, author, committer, message };
  const tipOid = pack.add("commit", await writer.format(commit));
  return { kind: "built", tipOid, objects: pack.list() };
}

/** Replays the commits of the head on top of the base, and merges them if `isMerged`. */
async function replay(
  { graph, objects, base, head }: MergeEnds,
  writer: MergeWriter,
  isMerged: boolean,
): Promise<BuiltMerge> {
  const pack = new CollectedObjects();
  const trees = new NewObjects(objects, NEW_BYTES_MAX);
  const { message, author, committer } = writer;
  const rebase = await rebaseCommits(graph, trees, base, head, async (replayed) => {
    trees.give(replayed.treeOid, pack.add);
    return pack.add("commit", await writer.format({ ...replayed, committer }));
  });
  if (rebase.kind === "conflicts") return { kind: "conflicts", paths: rebase.paths };
  const { oid, treeOid } = rebase.tip;
  const baseOid = graph.oid(base);
  if (oid === baseOid) return { kind: "unchanged" };
  if (!isMerged) return { kind: "built", tipOid: oid, objects: pack.list() };
  const parentOids = [baseOid, oid];
  const merge = await writer.format({ treeOid, parentOids, author, committer, message });
  return { kind: "built", tipOid: pack.add("commit", merge), objects: pack.list() };
}
