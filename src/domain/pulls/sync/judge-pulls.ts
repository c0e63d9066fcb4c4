import type { Ctx } from "../../../context.ts";
import { GitError } from "../../../git/error.ts";
import type { StoredObject } from "../../../git/store.ts";
import { log } from "../../../lib/log.ts";
import { nextTask } from "../../../lib/next-task.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef, openNetwork, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { isSwallowed, judgeIn, type JudgedPull, storeJudgements } from "../pull/judge-pull.ts";
import { findMergeCommit, setFoundMerged } from "./found-merge.ts";
import { hasTrialMerge, makeTrialMerge, storeMergeRefs, type TrialMerge } from "./merge-refs.ts";

/** Bytes of merged objects that one step keeps in memory. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Judges open pull requests of one repository against their present bases, and sets or removes
 * their `refs/pull/N/merge`. Where the repository wants it, those whose base reaches the head by
 * now become merged. Idempotent; what is known already is not worked out again.
 *
 * Cost: two calls of the Durable Object, one pack and one D1 batch for all together.
 *
 * @returns How many of them are done, from the first one: the others would keep too much in memory.
 */
export async function judgePulls(
  ctx: Ctx,
  repo: RepositoryContext,
  all: readonly PullContext[],
): Promise<number> {
  const numbers = all.map(({ row }) => row.number);
  const [snapshot] = await openNetwork(ctx, repo.row, repo.row, numbers);
  const { graph } = snapshot.repository;
  const judged: JudgedPull[] = [];
  const merges: TrialMerge[] = [];
  const removed: number[] = [];
  let done = 0;
  let bytes = 0;
  for (const pull of all) {
    if (bytes > KEPT_BYTES_MAX) break;
    done++;
    if (isSettled(snapshot, pull)) continue;
    const objects: StoredObject[] = [];
    const found = await judgeOrFail(snapshot, pull, (kind, content) => {
      bytes += content.length;
      objects.push({ kind, content });
    });
    const merge = found && makeTrialMerge(graph, found, objects);
    if (merge) merges.push(merge);
    else removed.push(pull.row.number);
    if (found) judged.push(found);
    // Reads that are cached wait for nothing: a page of pull requests would hold up all requests of
    // the isolate.
    await nextTask();
  }
  for (const each of judged.filter(isSwallowed)) {
    // Otherwise the push is not recorded yet. It may be a merge of the service, which is recorded
    // with it.
    const isRecorded = each.pull.baseTip === each.baseOid;
    if (isRecorded) await setFoundMerged(ctx, each, findMergeCommit(graph, each));
  }
  const open = judged.filter((each) => !isSwallowed(each));
  if (open.length > 0) await storeJudgements(ctx, open);
  await storeMergeRefs(ctx, repo, snapshot, merges, removed);
  return done;
}

/** Whether everything is known and stored of a pull request's present commits. */
function isSettled(snapshot: RepositorySnapshot, { pull, row }: PullContext): boolean {
  const baseOid = findRef(snapshot, branchRef(pull.baseBranch))?.oid;
  if (pull.mergeState !== "mergeable" || pull.judgedHeadOid !== pull.headOid) return false;
  if (baseOid === undefined || pull.judgedBaseOid !== baseOid) return false;
  return hasTrialMerge(snapshot, row.number, baseOid, pull.headOid);
}

/** One pull request that can't be judged must not keep the others from it. */
async function judgeOrFail(
  snapshot: RepositorySnapshot,
  pull: PullContext,
  write: Parameters<typeof judgeIn>[2],
): Promise<JudgedPull | undefined> {
  try {
    return await judgeIn(snapshot, pull, write);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    log("pulls:not-judged", { issueId: pull.row.id, reason: error.message });
    return undefined;
  }
}
