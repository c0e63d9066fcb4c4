import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { branchTips, pulls } from "../../../db/schema/index.ts";
import type { Budget } from "../../../git/budget.ts";
import { GitError } from "../../../git/error.ts";
import type { ObjectSink } from "../../../git/merge/new-objects.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { isMergeabilityCurrent, type PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef, openNetwork, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import {
  computeMergeability,
  countChanges,
  type MergeabilityResult,
} from "./compute-mergeability.ts";

/**
 * Steps of merging files for a caller who reads a pull request: about 0.4 s of processor time,
 * beside those of its differences. A job has no such bound.
 */
const MERGE_STEPS_MAX = 40_000_000;

/** A pull request with the result of a check, and the commits that were checked. */
export interface CheckedPull {
  readonly pull: PullContext;
  readonly baseOid: Oid;
  readonly headOid: Oid;
  readonly mergeability: MergeabilityResult;
}

/**
 * Checks whether an open pull request can be merged, unless its present head and base were checked
 * already, within the budget of the request. For a closed one that was never checked, such as an
 * imported one, counts the changes.
 *
 * Cost: nothing if it was checked already; else opening the repository. The result is stored after
 * the response.
 *
 * @returns The pull request with the result, or unchanged if the budget does not suffice or a
 * branch is missing: a job checks it then.
 */
export async function checkMergeability(ctx: Ctx, pull: PullContext): Promise<PullContext> {
  if (pull.row.isClosed) return countClosed(ctx, pull);
  if (pull.baseTip === undefined || isMergeabilityCurrent(pull)) return pull;
  try {
    const [snapshot] = await openNetwork(ctx, pull.repo.row, pull.repo.row);
    const budget = ctx.git.openBudget(MERGE_STEPS_MAX);
    const checked = await checkMergeabilityIn(snapshot, pull, undefined, budget);
    if (!checked || checked.mergeability.mergeState === "error") return pull;
    // The job that records a manual merge compares with the stored state before it.
    if (!isManuallyMerged(checked)) ctx.defer(storeMergeability(ctx, [checked]));
    return withMergeability(checked);
  } catch (error) {
    if (error instanceof GitError) return pull;
    throw error;
  }
}

async function countClosed(ctx: Ctx, pull: PullContext): Promise<PullContext> {
  const { headOid, mergeBaseOid, checkedHeadOid, issueId } = pull.pull;
  // Without a merge base, its changes are unknown.
  if (checkedHeadOid !== "" || mergeBaseOid === "") return pull;
  try {
    const [{ repository }] = await openNetwork(ctx, pull.repo.row, pull.repo.row);
    const { graph } = repository;
    const [base, head] = [graph.find(mergeBaseOid), graph.find(headOid)];
    if (base === NO_NODE || head === NO_NODE) return pull;
    const [baseTree, headTree] = [await graph.loadRootOid(base), await graph.loadRootOid(head)];
    const counts = await countChanges(repository, baseTree, headTree);
    // `checkedBaseOid` stays empty, so that a reopened pull request is checked.
    const counted = { ...counts, checkedHeadOid: headOid };
    const isSame = and(
      eq(pulls.issueId, issueId),
      eq(pulls.headOid, headOid),
      eq(pulls.mergeBaseOid, mergeBaseOid),
      eq(pulls.checkedHeadOid, ""),
    );
    ctx.defer(ctx.db.update(pulls).set(counted).where(isSame).run());
    return { ...pull, pull: { ...pull.pull, ...counted } };
  } catch (error) {
    if (error instanceof GitError) return pull;
    throw error;
  }
}

/**
 * Checks whether a pull request can be merged, in a snapshot of its base's repository.
 *
 * @param write Receives the new objects of the merge.
 * @param budget Bounds the work of merging files.
 * @returns Undefined if the head or the base is not stored there.
 */
export async function checkMergeabilityIn(
  snapshot: RepositorySnapshot,
  pull: PullContext,
  write?: ObjectSink,
  budget?: Budget,
): Promise<CheckedPull | undefined> {
  const { repository } = snapshot;
  const { baseBranch, headOid } = pull.pull;
  const baseOid = findRef(snapshot, branchRef(baseBranch))?.oid;
  const head = repository.graph.find(headOid);
  if (baseOid === undefined || head === NO_NODE) return undefined;
  const mergeability = await computeMergeability(
    repository,
    repository.graph.find(baseOid),
    head,
    write,
    budget,
  );
  return { pull, baseOid, headOid, mergeability };
}

/**
 * Whether the base reaches the head of a pull request that had commits of its own, in a repository
 * that detects manual merges.
 */
export const isManuallyMerged = ({ pull, headOid, mergeability }: CheckedPull): boolean =>
  mergeability.mergeState === "ancestor" &&
  pull.repo.row.pullSettings.autodetectManualMerge &&
  pull.pull.mergeBaseOid !== headOid;

const withMergeability = ({ pull, baseOid, headOid, mergeability }: CheckedPull): PullContext => {
  const { treeOid: _, ...known } = mergeability;
  return {
    ...pull,
    baseTip: baseOid,
    pull: { ...pull.pull, ...known, checkedBaseOid: baseOid, checkedHeadOid: headOid },
  };
};

/** Maximum bytes of results in one statement; a bound value of D1 has 2 MB at most. */
const STATEMENT_BYTES = 1_000_000;

/**
 * Stores results, each only while its pull request has the commits that were checked. Idempotent.
 *
 * Cost: one batch.
 */
export async function storeMergeability(ctx: Ctx, all: readonly CheckedPull[]): Promise<void> {
  const chunks: string[][] = [];
  let bytes = 0;
  for (const each of all) {
    const row = JSON.stringify(toRow(each));
    if (chunks.length === 0 || bytes + row.length > STATEMENT_BYTES) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(row);
    bytes += row.length;
  }
  const [first, ...rest] = chunks.map((rows) => storeRows(ctx, `[${rows.join()}]`));
  if (first) await ctx.db.batch([first, ...rest]);
}

const toRow = ({ pull, baseOid, headOid, mergeability }: CheckedPull) => {
  const { treeOid: _, ...known } = mergeability;
  const { issueId, baseBranch } = pull.pull;
  return { issueId, baseBranch, baseOid, headOid, ...known };
};

const storeRows = ({ db }: Ctx, rows: string) =>
  db
    .update(pulls)
    .set({
      mergeState: sql`checked.value ->> 'mergeState'`,
      mergeBaseOid: sql`checked.value ->> 'mergeBaseOid'`,
      conflictPaths: sql`checked.value -> 'conflictPaths'`,
      additions: sql`checked.value ->> 'additions'`,
      deletions: sql`checked.value ->> 'deletions'`,
      changedFiles: sql`checked.value ->> 'changedFiles'`,
      aheadCount: sql`checked.value ->> 'aheadCount'`,
      behindCount: sql`checked.value ->> 'behindCount'`,
      checkedBaseOid: sql`checked.value ->> 'baseOid'`,
      checkedHeadOid: sql`checked.value ->> 'headOid'`,
    })
    .from(sql`json_each(${rows}) checked`)
    .where(
      sql`${pulls.issueId} = checked.value ->> 'issueId'
        and ${pulls.headOid} = checked.value ->> 'headOid'
        and ${pulls.baseBranch} = checked.value ->> 'baseBranch'
        and ${pulls.mergedAt} is null
        and not exists (
          select 1
          from ${branchTips}
          where ${branchTips.repoId} = ${pulls.repoId}
            and ${branchTips.branch} = ${pulls.baseBranch}
            and ${branchTips.oid} is not checked.value ->> 'baseOid'
        )`,
    );
