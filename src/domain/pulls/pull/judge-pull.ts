import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { branchTips, pulls } from "../../../db/schema/index.ts";
import type { Budget } from "../../../git/budget.ts";
import { GitError } from "../../../git/error.ts";
import type { ObjectSink } from "../../../git/merge/new-objects.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { isJudged, type PullContext } from "../../../shapes/pulls/pull-request.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef, openNetwork, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { countChanges, judge, type Judgement } from "./judge.ts";

/**
 * Steps of merging files for a caller who reads a pull request: about 0.4 s of processor time,
 * beside those of its differences. A job has no such bound.
 */
const MERGE_STEPS_MAX = 40_000_000;

/** A judgement with what it is about. */
export interface JudgedPull {
  readonly pull: PullContext;
  readonly baseOid: Oid;
  readonly headOid: Oid;
  readonly judgement: Judgement;
}

/**
 * Judges an open pull request whose judgement is not about its present head and base, within the
 * budget of the request. Of a closed one that was never judged, as one that came closed from
 * elsewhere, the changes are counted.
 *
 * Cost: nothing for a judged one; else as opening the repository. It is stored after the answer.
 *
 * @returns The pull request as judged, or unchanged where the budget does not suffice or a branch
 * is missing: a job judges it then.
 */
export async function judgePull(ctx: Ctx, pull: PullContext): Promise<PullContext> {
  if (pull.row.isClosed) return countClosed(ctx, pull);
  if (pull.baseTip === undefined || isJudged(pull)) return pull;
  try {
    const [snapshot] = await openNetwork(ctx, pull.repo.row, pull.repo.row);
    const budget = ctx.git.openBudget(MERGE_STEPS_MAX);
    const judged = await judgeIn(snapshot, pull, undefined, budget);
    if (!judged || judged.judgement.mergeState === "error") return pull;
    // The job that finds it merged needs to see that it was not.
    if (!isSwallowed(judged)) ctx.defer(storeJudgements(ctx, [judged]));
    return withJudgement(judged);
  } catch (error) {
    if (error instanceof GitError) return pull;
    throw error;
  }
}

async function countClosed(ctx: Ctx, pull: PullContext): Promise<PullContext> {
  const { headOid, mergeBaseOid, judgedHeadOid, issueId } = pull.pull;
  // Without a base it is not known what it was to change.
  if (judgedHeadOid !== "" || mergeBaseOid === "") return pull;
  try {
    const [{ repository }] = await openNetwork(ctx, pull.repo.row, pull.repo.row);
    const { graph } = repository;
    const [base, head] = [graph.find(mergeBaseOid), graph.find(headOid)];
    if (base === NO_NODE || head === NO_NODE) return pull;
    const [baseTree, headTree] = [await graph.loadRootOid(base), await graph.loadRootOid(head)];
    const counts = await countChanges(repository, baseTree, headTree);
    // A judgement names its base too: this is none, so that one that is opened again is judged.
    const counted = { ...counts, judgedHeadOid: headOid };
    const isSame = and(
      eq(pulls.issueId, issueId),
      eq(pulls.headOid, headOid),
      eq(pulls.mergeBaseOid, mergeBaseOid),
      eq(pulls.judgedHeadOid, ""),
    );
    ctx.defer(ctx.db.update(pulls).set(counted).where(isSame).run());
    return { ...pull, pull: { ...pull.pull, ...counted } };
  } catch (error) {
    if (error instanceof GitError) return pull;
    throw error;
  }
}

/**
 * Judges a pull request in a snapshot of its base's repository.
 *
 * @param write Receives the new objects of the merge.
 * @param budget Bounds the work of merging files.
 * @returns Undefined if the head or the base is not stored there.
 */
export async function judgeIn(
  snapshot: RepositorySnapshot,
  pull: PullContext,
  write?: ObjectSink,
  budget?: Budget,
): Promise<JudgedPull | undefined> {
  const { repository } = snapshot;
  const { baseBranch, headOid } = pull.pull;
  const baseOid = findRef(snapshot, branchRef(baseBranch))?.oid;
  const head = repository.graph.find(headOid);
  if (baseOid === undefined || head === NO_NODE) return undefined;
  const judgement = await judge(repository, repository.graph.find(baseOid), head, write, budget);
  return { pull, baseOid, headOid, judgement };
}

/**
 * Whether the base reaches the head of a pull request that had commits of its own, in a repository
 * that takes this for a merge.
 */
export const isSwallowed = ({ pull, headOid, judgement }: JudgedPull): boolean =>
  judgement.mergeState === "ancestor" &&
  pull.repo.row.pullSettings.autodetectManualMerge &&
  pull.pull.mergeBaseOid !== headOid;

const withJudgement = ({ pull, baseOid, headOid, judgement }: JudgedPull): PullContext => {
  const { treeOid: _, ...known } = judgement;
  return {
    ...pull,
    baseTip: baseOid,
    pull: { ...pull.pull, ...known, judgedBaseOid: baseOid, judgedHeadOid: headOid },
  };
};

/** Maximum bytes of judgements in one statement; a bound value of D1 has 2 MB at most. */
const STATEMENT_BYTES = 1_000_000;

/**
 * Stores judgements, each only while its pull request has the commits that it is about. Idempotent.
 *
 * Cost: one batch.
 */
export async function storeJudgements(ctx: Ctx, all: readonly JudgedPull[]): Promise<void> {
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

const toRow = ({ pull, baseOid, headOid, judgement }: JudgedPull) => {
  const { treeOid: _, ...known } = judgement;
  const { issueId, baseBranch } = pull.pull;
  return { issueId, baseBranch, baseOid, headOid, ...known };
};

const storeRows = ({ db }: Ctx, rows: string) =>
  db
    .update(pulls)
    .set({
      mergeState: sql`judged.value ->> 'mergeState'`,
      mergeBaseOid: sql`judged.value ->> 'mergeBaseOid'`,
      conflictPaths: sql`judged.value -> 'conflictPaths'`,
      additions: sql`judged.value ->> 'additions'`,
      deletions: sql`judged.value ->> 'deletions'`,
      changedFiles: sql`judged.value ->> 'changedFiles'`,
      aheadCount: sql`judged.value ->> 'aheadCount'`,
      behindCount: sql`judged.value ->> 'behindCount'`,
      judgedBaseOid: sql`judged.value ->> 'baseOid'`,
      judgedHeadOid: sql`judged.value ->> 'headOid'`,
    })
    .from(sql`json_each(${rows}) judged`)
    .where(
      sql`${pulls.issueId} = judged.value ->> 'issueId'
        and ${pulls.headOid} = judged.value ->> 'headOid'
        and ${pulls.baseBranch} = judged.value ->> 'baseBranch'
        and ${pulls.mergedAt} is null
        and not exists (
          select 1
          from ${branchTips}
          where ${branchTips.repoId} = ${pulls.repoId}
            and ${branchTips.branch} = ${pulls.baseBranch}
            and ${branchTips.oid} is not judged.value ->> 'baseOid'
        )`,
    );
