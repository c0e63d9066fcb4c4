import { and, eq, ne, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { onlyWhile } from "../../../db/db.ts";
import { branchTips, issues, pulls, timelineEntries } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { findDivergence } from "../../../git/walk/merge-bases.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { refuseExpression } from "../../code/git/find-revision.ts";
import { findRef, openSnapshot } from "../../code/git/open-snapshot.ts";
import { insertEntryIfChanged } from "../../issues/issue/insert-entry.ts";
import { dropApprovals } from "../reviews/follow-head.ts";
import { toBranch } from "./branch-of.ts";
import { computeMergeability, type MergeabilityResult } from "./compute-mergeability.ts";
import { toPushBody } from "./push-entry.ts";
import { type BranchPair, isTaken } from "./taken-pair.ts";

/** Another base of a pull request. */
export interface Retarget {
  readonly pair: BranchPair;
  /** The value of the new base. */
  readonly baseOid: string;
  /** Undefined while the head is not stored yet. */
  readonly mergeability: MergeabilityResult | undefined;
  /** The commits that the new base does not reach, oldest first. */
  readonly commitOids: readonly Oid[];
}

/**
 * Checks whether a pull request can be merged into another base.
 *
 * @returns Undefined if it has that base already, or is merged.
 * @throws Failure `invalid` for a closed one and an expression of git, `not_found` for a base that
 *   is no branch.
 */
export async function openRetarget(
  ctx: Ctx,
  { repo, row, pull }: PullContext,
  base: string,
): Promise<Retarget | undefined> {
  const baseBranch = toBranch(base);
  if (pull.mergedAt !== null || baseBranch === pull.baseBranch) return undefined;
  if (row.isClosed) {
    const subject = `[id: ${row.id}, repo_id: ${repo.row.id}, index: ${row.number}]`;
    throw invalid(`Pull Request ${subject} is already closed`);
  }
  refuseExpression(base);
  const snapshot = await openSnapshot(ctx, repo);
  const ref = findRef(snapshot, branchRef(baseBranch));
  if (!ref) throw notFound(`new base '${baseBranch}' not exist`);
  const { graph } = snapshot.repository;
  const head = graph.find(pull.headOid);
  const { headRepoId, headBranch } = pull;
  const pair = { repoId: repo.row.id, headRepoId, headBranch, baseBranch };
  if (head === NO_NODE) return { pair, baseOid: ref.oid, mergeability: undefined, commitOids: [] };
  const baseNode = graph.find(ref.oid);
  const commits = findDivergence(graph, baseNode, head).right;
  return {
    pair,
    baseOid: ref.oid,
    mergeability: await computeMergeability(snapshot.repository, baseNode, head),
    commitOids: commits.map((node) => graph.oid(node)).toReversed(),
  };
}

/**
 * The statements that give an open pull request another base, with the entries of its timeline and
 * the event. The timeline lists its commits anew. The batch fails by a violation of `NOT NULL` of
 * the base if the branches have an open pull request already.
 *
 * SECURITY: an approval holds for the former base, which may have other rules.
 */
export function retargetStatements(
  ctx: Ctx,
  context: PullContext,
  { pair, baseOid, mergeability, commitOids }: Retarget,
) {
  const { repo, row, pull } = context;
  const { id: issueId, repoId, number } = row;
  const { baseBranch } = pair;
  const other = sql`exists (select 1 from ${pulls} where ${isTaken(pair)})`;
  const { treeOid: _, ...columns } = mergeability ?? {};
  const isKept = and(
    eq(pulls.issueId, issueId),
    eq(pulls.isClosed, false),
    ne(pulls.baseBranch, baseBranch),
  );
  return [
    // First, while the pull request has the former base.
    ...dropApprovals(ctx, context, sql`exists (select 1 from ${pulls} where ${isKept})`),
    ctx.db
      .delete(timelineEntries)
      .where(
        and(
          eq(timelineEntries.issueId, issueId),
          eq(timelineEntries.kind, "pull_push"),
          sql`exists (select 1 from ${pulls} where ${isKept})`,
        ),
      ),
    ctx.db
      .update(issues)
      .set({ updatedAt: ctx.now })
      .where(sql`${issues.id} in (select ${pulls.issueId} from ${pulls} where ${isKept})`),
    ctx.db
      .insert(branchTips)
      .values({ repoId, branch: baseBranch, oid: baseOid })
      .onConflictDoNothing(),
    ctx.db
      .update(pulls)
      .set({
        ...columns,
        ...(mergeability
          ? { checkedBaseOid: baseOid, checkedHeadOid: pull.headOid }
          : { mergeState: "checking" as const }),
        baseBranch: onlyWhile(sql`not ${other}`, baseBranch),
      })
      .where(isKept),
    insertEntryIfChanged(ctx, {
      kind: "change_target_branch",
      repoId,
      issueId,
      oldValue: pull.baseBranch,
      newValue: baseBranch,
    }),
    ...(commitOids.length === 0
      ? []
      : [
          insertEntryIfChanged(ctx, {
            kind: "pull_push",
            repoId,
            issueId,
            body: toPushBody(false, commitOids),
          }),
        ]),
    recordIfChanged(ctx, {
      type: "pull.retargeted",
      ownerId: repo.row.ownerId,
      repoId,
      issueId,
      number,
      from: pull.baseBranch,
      to: baseBranch,
    }),
  ] as const;
}
