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

/** Commits of a new branch that count as pushed: which of them others had is not known. */
const FIRST_COMMITS_MAX = 10;

/** What is told of a pushed commit beside itself. */
export const PUSHED_PARTS = { hasStat: false, hasFiles: true, hasVerification: false };

/**
 * What a push brought to one ref. Of commits that were removed since, nothing is told any more.
 *
 * Cost: what came between is walked and counted; five commits are read, with the trees they changed.
 */
export async function readPushed(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  moved: RefChange,
): Promise<Pushed> {
  const { repository } = snapshot;
  const tip = findNode(repository, moved.after);
  if (tip === NO_NODE) return { ...moved, commits: [], total: 0, head: undefined };
  const isTag = kindOfRef(moved.ref) === "tag";
  const { nodes, total, baseOid } = isTag
    ? { nodes: [], total: 0, baseOid: undefined }
    : listPushed(repository, tip, findNode(repository, moved.before));
  // What is new begins with the tip, unless nothing is.
  const read = await readCommits(ctx, snapshot, nodes.length > 0 ? nodes : [tip], PUSHED_PARTS);
  return { ...moved, commits: read.slice(0, nodes.length), total, head: read[0], baseOid };
}

function listPushed({ graph }: OpenRepository, tip: Node, before: Node) {
  const range = { tips: [tip], excluded: before === NO_NODE ? [] : [before] };
  const isWanted = findWanted(graph, range);
  const nodes: Node[] = [];
  const most = before === NO_NODE ? FIRST_COMMITS_MAX : LISTED_COMMITS_MAX;
  for (const node of walkByTime(graph, range.tips, isWanted)) {
    nodes.push(node);
    if (nodes.length === most) break;
  }
  const [base = NO_NODE] = graph.parents(nodes.at(-1) ?? tip);
  return {
    nodes: nodes.slice(0, LISTED_COMMITS_MAX),
    total: before === NO_NODE ? nodes.length : countWalk(graph, range.tips, isWanted),
    baseOid: before === NO_NODE && base !== NO_NODE ? graph.oid(base) : undefined,
  };
}

/** The commit that an id leads to; none for what is no commit or is not there any more. */
export function findNode({ catalog, graph }: OpenRepository, oid: Oid | null): Node {
  const found = oid === null ? undefined : catalog.find(oid);
  const hookOwner = found && peel(catalog, found);
  return hookOwner ? graph.nodeAt(hookOwner) : NO_NODE;
}
