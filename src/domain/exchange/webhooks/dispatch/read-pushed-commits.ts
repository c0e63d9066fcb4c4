import type { Ctx } from "../../../../context.ts";
import { kindOfRef, type RefChange } from "../../../../events/webhooks/payloads/webhook-event.ts";
import {
  LISTED_COMMITS_MAX,
  type Pushed,
} from "../../../../events/webhooks/payloads/push-payload.ts";
import type { Oid } from "../../../../git/oid.ts";
import { NO_NODE, type Node } from "../../../../git/walk/commit-graph.ts";
import { countWalk, rangeFilter, listUntil, walkByTime } from "../../../../git/walk/log.ts";
import type { OpenRepository } from "../../../../storage/open-repository.ts";
import { readCommits } from "../../../code/commits/read-commits.ts";
import { findNode } from "../../../code/git/find-node.ts";
import { firstParent, NEW_BRANCH_COMMITS_MAX } from "../../../code/git/list-pushed-commits.ts";
import type { RepositorySnapshot } from "../../../code/git/open-snapshot.ts";

/** The details read with each pushed commit. */
export const PUSHED_PARTS = { hasStat: false, hasFiles: true, hasVerification: false };

/**
 * Reads the commits that a push added to one ref: as many as were counted for a new branch, and
 * otherwise those since its old value. Commits that are no longer stored are left out.
 *
 * Cost: a walk over the pushed commits, which are counted; reads five of them with their changed
 * trees.
 */
export async function readPushedCommits(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  change: RefChange,
): Promise<Pushed> {
  const { repository } = snapshot;
  const tip = await findNode(repository, change.after);
  if (tip === NO_NODE) return { ...change, commits: [], total: 0, head: undefined };
  const isTag = kindOfRef(change.ref) === "tag";
  const { nodes, total, baseOid } = isTag
    ? { nodes: [], total: 0 }
    : await listPushed(repository, tip, change);
  // The tip is the first new commit; it is read even if no commit is new.
  const read = await readCommits(ctx, snapshot, nodes.length > 0 ? nodes : [tip], PUSHED_PARTS);
  return { ...change, commits: read.slice(0, nodes.length), total, head: read[0], baseOid };
}

/** The commits of a push to a branch. */
interface PushedNodes {
  /** Latest first, at most as many as are listed. */
  readonly nodes: readonly Node[];
  readonly total: number;
  readonly baseOid?: Oid | undefined;
}

async function listPushed(
  repository: OpenRepository,
  tip: Node,
  { before, commitCount }: RefChange,
): Promise<PushedNodes> {
  const { graph } = repository;
  const from = await findNode(repository, before);
  if (from === NO_NODE) {
    // Counted when the push was recorded: other branches may have the commits by now.
    const nodes = listUntil(graph, tip, () => false, commitCount ?? NEW_BRANCH_COMMITS_MAX);
    const oldest = nodes.at(-1);
    return {
      nodes: nodes.slice(0, LISTED_COMMITS_MAX),
      total: nodes.length,
      baseOid: oldest === undefined ? undefined : firstParent(graph, oldest),
    };
  }
  const range = { tips: [tip], excluded: [from] };
  const isInRange = rangeFilter(graph, range);
  const nodes: Node[] = [];
  for (const node of walkByTime(graph, range.tips, isInRange)) {
    nodes.push(node);
    if (nodes.length === LISTED_COMMITS_MAX) break;
  }
  return { nodes, total: countWalk(graph, range.tips, isInRange) };
}
