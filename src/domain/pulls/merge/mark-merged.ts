import { and, eq } from "drizzle-orm";

import { isConfined } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { pulls } from "../../../db/schema/index.ts";
import { originOf } from "../../../events/record.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { isOid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { isAncestor } from "../../../git/walk/merge-bases.ts";
import { conflict } from "../../../lib/failure.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { mergeStatements } from "../../code/git/record-merge.ts";
import { computeMergeability, type MergeabilityResult } from "../pull/compute-mergeability.ts";
import { openPull } from "../pull/open-pull.ts";
import { BaseBusy, baseRefOf, WAIT_MS_MAX } from "./merge-pull.ts";
import { alreadyMerged, requireMerger, requireStyle } from "./require-mergeable.ts";

/**
 * Marks a pull request as merged by a commit that is in the base already. Updates no ref, and does
 * not check the contents of the commit, as in Gitea.
 *
 * Takes the lease on the base, as merges do, so that no merge of it happens meanwhile.
 *
 * @param commitOid The full id.
 * @throws Failure as `requireMerger` and `requireStyle`; `conflict` if the base does not reach such
 * a commit; `not_applicable` if it is merged otherwise at the same time; BaseBusy as `mergePull`.
 */
export async function markMerged(ctx: Ctx, pull: PullContext, commitOid: string): Promise<void> {
  requireMerger(pull);
  requireStyle(pull.repo, "manually-merged");
  const stored = ctx.git.repository(pull.repo.row);
  const leased = await stored.acquireLease(baseRefOf(pull), WAIT_MS_MAX, "none");
  if (leased.kind === "busy") throw new BaseBusy();
  try {
    // A merge may be pushed, but not recorded yet.
    if (await stored.hasMerged(pull.row.number)) throw alreadyMerged();
    await mark(ctx, pull, commitOid);
  } finally {
    ctx.defer(stored.releaseLease(leased.lease));
  }
}

async function mark(ctx: Ctx, pull: PullContext, commitOid: string): Promise<void> {
  const { snapshot, base, head, mergeBase } = await openPull(ctx, pull);
  const { graph, objects } = snapshot.repository;
  const node = isOid(commitOid) ? graph.find(commitOid) : NO_NODE;
  const isInBase = node !== NO_NODE && base !== undefined && isAncestor(graph, node, base);
  if (!isInBase) throw conflict("Wrong commit ID");
  const { author } = parseCommit(await objects.readAt(graph.location(node)));
  const [parent = NO_NODE] = graph.parents(node);
  const changes =
    parent !== NO_NODE && !isAncestor(graph, head, parent) && isAncestor(graph, head, node)
      ? await computeMergeability(snapshot.repository, parent, head)
      : undefined;
  const { db, eventQueues } = ctx;
  eventQueues.noteRecorded();
  const statements = mergeStatements(originOf(ctx), pull.repo.row, {
    number: pull.row.number,
    issueId: pull.row.id,
    kind: "manually-merged",
    commitOid,
    baseOid: parent === NO_NODE ? "" : graph.oid(parent),
    mergeBaseOid: changes?.mergeBaseOid ?? (mergeBase === undefined ? "" : graph.oid(mergeBase)),
    isAutomatic: false,
    isConfined: isConfined(ctx.actor),
    mergedAt: gitTimeMs(author.timeSeconds),
  });
  const [marked] = await db.batch([
    ...statements,
    ...(changes ? [countStatement(ctx, pull, commitOid, changes)] : []),
  ]);
  // Another merge was recorded since the pull request was read.
  if (marked.length === 0) throw alreadyMerged();
}

/** Stores the counts of the changes by a merge commit, which the base contains now. */
const countStatement = (
  { db }: Ctx,
  { row }: PullContext,
  commitOid: string,
  { additions, deletions, changedFiles }: MergeabilityResult,
) =>
  db
    .update(pulls)
    .set({ additions, deletions, changedFiles })
    .where(and(eq(pulls.issueId, row.id), eq(pulls.mergeCommitOid, commitOid)));
