import type { Ctx } from "../../../context.ts";
import { kindOfRef, type RefChange } from "../../../events/webhooks/payloads/webhook-event.ts";
import { LISTED_COMMITS_MAX, type Pushed } from "../../../events/webhooks/payloads/push-payload.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { countWalk, findWanted, walkByTime } from "../../../git/walk/log.ts";
import { peel } from "../../../git/walk/peel.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { readCommits } from "../../commits/read-commits.ts";
import type { RepositorySnapshot } from "../../git/open-snapshot.ts";

/** Commits listed as pushed for a new branch: the commits that other branches contain are not known. */
const FIRST_COMMITS_MAX = 10;

/** The details read with each pushed commit. */
export const PUSHED_PARTS = { hasStat: false, hasFiles: true, hasVerification: false };

/**
 * Reads the commits that a push added to one ref. Commits that are no longer stored are left out.
 *
 * Cost: a walk over the pushed commits, which are counted; reads five of them with their changed trees.
 */
export async function readPushed(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  change: RefChange,
): Promise<Pushed> {
  const { repository } = snapshot;
  const tip = findNode(repository, change.after);
  if (tip === NO_NODE) return { ...change, commits: [], total: 0, head: undefined };
  const isTag = kindOfRef(change.ref) === "tag";
  const { nodes, total, baseOid } = isTag
    ? { nodes: [], total: 0, baseOid: undefined }
    : listPushed(repository, tip, findNode(repository, change.before));
  // The tip is the first new commit; it is read even if no commit is new.
  const read = await readCommits(ctx, snapshot, nodes.length > 0 ? nodes : [tip], PUSHED_PARTS);
  return { ...change, commits: read.slice(0, nodes.length), total, head: read[0], baseOid };
}

function listPushed({ graph }: OpenRepository, tip: Node, before: Node) {
  const range = { tips: [tip], excluded: before === NO_NODE ? [] : [before] };
  const isWanted = findWanted(graph, range);
  const nodes: Node[] = [];
  const listedMax = before === NO_NODE ? FIRST_COMMITS_MAX : LISTED_COMMITS_MAX;
  for (const node of walkByTime(graph, range.tips, isWanted)) {
    nodes.push(node);
    if (nodes.length === listedMax) break;
  }
  const [base = NO_NODE] = graph.parents(nodes.at(-1) ?? tip);
  return {
    nodes: nodes.slice(0, LISTED_COMMITS_MAX),
    total: before === NO_NODE ? nodes.length : countWalk(graph, range.tips, isWanted),
    baseOid: before === NO_NODE && base !== NO_NODE ? graph.oid(base) : undefined,
  };
}

/** The node of the commit that an id peels to; none if it is not a commit or no longer stored. */
export function findNode({ catalog, graph }: OpenRepository, oid: Oid | null): Node {
  const found = oid === null ? undefined : catalog.find(oid);
  const commit = found && peel(catalog, found);
  return commit ? graph.nodeAt(commit) : NO_NODE;
}
