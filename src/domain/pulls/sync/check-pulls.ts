import type { Ctx } from "../../../context.ts";
import { GitError } from "../../../git/error.ts";
import type { StoredObject } from "../../../git/store.ts";
import { log } from "../../../lib/log.ts";
import { nextTask } from "../../../lib/next-task.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findRef, openNetwork, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import {
  isManuallyMerged,
  checkMergeabilityIn,
  type CheckedPull,
  storeMergeability,
} from "../pull/check-mergeability.ts";
import { findMergeCommit, recordManualMerge } from "./manual-merge.ts";
import { hasTrialMerge, makeTrialMerge, storeMergeRefs, type TrialMerge } from "./merge-refs.ts";

/** Bytes of merged objects that one step keeps in memory. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Checks the mergeability of open pull requests of one repository, and sets or removes their
 * `refs/pull/N/merge`. If the repository detects manual merges, a pull request whose base reaches
 * its head becomes merged. Idempotent; skips pull requests that were checked already.
 *
 * Cost: two calls of the Durable Object, one pack and one D1 batch for all together.
 *
 * @returns How many were checked, from the first one: the others would keep too much in memory.
 */
export async function checkPulls(
  ctx: Ctx,
  repo: RepositoryContext,
  all: readonly PullContext[],
): Promise<number> {
  const numbers = all.map(({ row }) => row.number);
  const [snapshot] = await openNetwork(ctx, repo.row, repo.row, numbers);
  const { graph } = snapshot.repository;
  const checked: CheckedPull[] = [];
  const merges: TrialMerge[] = [];
  const removed: number[] = [];
  let done = 0;
  let bytes = 0;
  for (const pull of all) {
    if (bytes > KEPT_BYTES_MAX) break;
    done++;
    if (isSettled(snapshot, pull)) continue;
    const objects: StoredObject[] = [];
    const found = await checkOrLog(snapshot, pull, (kind, content) => {
      bytes += content.length;
      objects.push({ kind, content });
    });
    const merge = found && makeTrialMerge(graph, found, objects);
    if (merge) merges.push(merge);
    else removed.push(pull.row.number);
    if (found) checked.push(found);
    // Cached reads never yield: without this, a page of pull requests would block all requests of
    // the isolate.
    await nextTask();
  }
  for (const each of checked.filter(isManuallyMerged)) {
    // If the tips differ, the push is not recorded yet. It may be a merge by the service, which the
    // record of the push includes.
    const isRecorded = each.pull.baseTip === each.baseOid;
    if (isRecorded) await recordManualMerge(ctx, each, findMergeCommit(graph, each));
  }
  const open = checked.filter((each) => !isManuallyMerged(each));
  if (open.length > 0) await storeMergeability(ctx, open);
  await storeMergeRefs(ctx, repo, snapshot, merges, removed);
  return done;
}

/** Whether the present commits were checked, and the merge commit is stored. */
function isSettled(snapshot: RepositorySnapshot, { pull, row }: PullContext): boolean {
  const baseOid = findRef(snapshot, branchRef(pull.baseBranch))?.oid;
  if (pull.mergeState !== "mergeable" || pull.checkedHeadOid !== pull.headOid) return false;
  if (baseOid === undefined || pull.checkedBaseOid !== baseOid) return false;
  return hasTrialMerge(snapshot, row.number, baseOid, pull.headOid);
}

/** Logs a failure, so that one pull request does not stop the check of the others. */
async function checkOrLog(
  snapshot: RepositorySnapshot,
  pull: PullContext,
  write: Parameters<typeof checkMergeabilityIn>[2],
): Promise<CheckedPull | undefined> {
  try {
    return await checkMergeabilityIn(snapshot, pull, write);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    log("pulls:not-checked", { issueId: pull.row.id, reason: error.message });
    return undefined;
  }
}
