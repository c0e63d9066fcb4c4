import { type Budget, withoutLimit } from "../budget.ts";
import { encodeText } from "../byte-text.ts";
import { DEFAULT_RENAME_OPTIONS } from "../diff/rename-matcher.ts";
import { missing, overLimit } from "../error.ts";
import { type Commit, parseCommit } from "../object/commit.ts";
import { toUtf8 } from "../object/reencode.ts";
import { EMPTY_TREE_OID, type Oid } from "../oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../walk/commit-graph.ts";
import { logByTime, logByTopology } from "../walk/log.ts";
import { type ConflictedPath, mergeTrees, type TreesMergeOptions } from "./merge-trees.ts";
import type { NewObjects } from "./new-objects.ts";
import { findEqualPatches } from "./patch-id.ts";

/** Maximum commits that are replayed. */
const COMMITS_MAX = 1000;
/** The latest commits of the base that are searched for the same patches; git searches all. */
const BASE_COMMITS_MAX = 1000;

/** A commit that a rebase makes of another one, without its committer. */
export type ReplayedCommit = Pick<Commit, "treeOid" | "parentOids" | "author" | "message">;

/** A commit with its tree. */
interface CommitTree {
  readonly oid: Oid;
  readonly treeOid: Oid;
}

export type Rebase =
  | { readonly kind: "rebased"; readonly tip: CommitTree }
  | {
      readonly kind: "conflicts";
      /** The commit that can't be replayed. */
      readonly commitOid: Oid;
      readonly paths: readonly ConflictedPath[];
    };

/**
 * Replays the commits of `tip` that `onto` lacks on top of it, as `git rebase` does with its
 * defaults:
 * - in topological order; merges are left out, their other commits are replayed one after another;
 * - a commit whose parent is where the rebase stands is kept as it is;
 * - a commit whose patch `onto` has already, or that changes nothing any more, is dropped; one that
 *   never changed anything is kept.
 *
 * @param objects Receives the new objects but the commits.
 * @param commit  Stores a replayed commit, and returns its id.
 * @throws GitError `limit` for too many commits, and as `mergeCommits`.
 * @see git-rebase(1).
 */
export async function rebaseCommits(
  graph: CommitGraph,
  objects: NewObjects,
  onto: Node,
  tip: Node,
  commit: (replayed: ReplayedCommit) => Promise<Oid>,
): Promise<Rebase> {
  let current: CommitTree = { oid: graph.oid(onto), treeOid: await treeOf(graph, onto) };
  for (const node of await listPicks(graph, objects, onto, tip)) {
    const [parent = NO_NODE] = graph.parents(node);
    const treeOid = await treeOf(graph, node);
    const oid = graph.oid(node);
    if (parent !== NO_NODE && graph.oid(parent) === current.oid) {
      current = { oid, treeOid };
      continue;
    }
    const parentTree = parent === NO_NODE ? EMPTY_TREE_OID : await treeOf(graph, parent);
    const merge = await mergeTrees(
      objects,
      [parentTree, current.treeOid, treeOid],
      pickOptions(oid, objects.budget),
    );
    if (merge.conflicts.length > 0)
      return { kind: "conflicts", commitOid: oid, paths: merge.paths };
    const isSuperfluous = merge.treeOid === current.treeOid && treeOid !== parentTree;
    if (isSuperfluous) continue;
    const { author, message } = await readCommit(objects, oid);
    const parentOids = [current.oid];
    const replayed = await commit({ treeOid: merge.treeOid, parentOids, author, message });
    current = { oid: replayed, treeOid: merge.treeOid };
  }
  return { kind: "rebased", tip: current };
}

/** Lists the commits to replay, first to last. */
async function listPicks(
  graph: CommitGraph,
  objects: NewObjects,
  onto: Node,
  tip: Node,
): Promise<Node[]> {
  const own = [...logByTopology(graph, { tips: [tip], excluded: [onto] })]
    .filter((node) => graph.parents(node).length < 2)
    .toReversed();
  if (own.length > COMMITS_MAX) throw overLimit(`more than ${COMMITS_MAX} commits to rebase`);
  const others: Node[] = [];
  for (const node of logByTime(graph, { tips: [onto], excluded: [tip] })) {
    others.push(node);
    if (others.length === BASE_COMMITS_MAX) break;
  }
  const known = await findEqualPatches(graph, objects, own, others);
  return own.filter((node) => !known.has(node));
}

async function treeOf(graph: CommitGraph, node: Node): Promise<Oid> {
  const treeOid = await graph.loadRootOid(node);
  if (treeOid === undefined) throw missing(`tree of commit ${graph.oid(node)}`);
  return treeOid;
}

async function readCommit(objects: NewObjects, oid: Oid): Promise<Commit> {
  const found = await objects.readObject(oid);
  if (!found) throw missing(`commit ${oid}`);
  return toUtf8(parseCommit(found.content));
}

/** The options of a merge that makes the change of one commit to another one. */
export const pickOptions = (oid: Oid, budget: Budget | undefined): TreesMergeOptions => ({
  labels: {
    base: encodeText(`parent of ${oid.slice(0, 7)}`),
    ours: encodeText("HEAD"),
    theirs: encodeText(oid.slice(0, 7)),
  },
  style: "merge",
  budget: withoutLimit(budget),
  contentBytesMax: 4 * 1024 * 1024,
  depth: 0,
  pathsMax: 200_000,
  renames: DEFAULT_RENAME_OPTIONS,
});
