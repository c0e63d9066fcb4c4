import { eq } from "drizzle-orm";

import { accountActor } from "../../../../auth/actor.ts";
import { callerSql } from "../../../../auth/caller-sql.ts";
import type { Ctx } from "../../../../context.ts";
import { repositories } from "../../../../db/schema/index.ts";
import { NO_NODE, type Node } from "../../../../git/walk/commit-graph.ts";
import { Failure } from "../../../../lib/failure.ts";
import { isDraftTitle } from "../../../../shapes/issues/issue.ts";
import type { PullContext } from "../../../../shapes/pulls/pull-request.ts";
import type { RepositorySnapshot } from "../../../code/git/open-snapshot.ts";
import { loadMergeFacts } from "../../../code/protections/merge-facts.ts";
import { findMergeRefusal } from "../../../code/protections/merge-refusal.ts";
import {
  selectRepositories,
  toRepositoryContext,
} from "../../../repos/repository/find-repository.ts";
import { findPull } from "../../pull/find-pull.ts";
import { latestBase } from "../../pull/open-pull.ts";
import { requireMerger, requireStyle, requireUnblocked } from "../require-mergeable.ts";
import type { Departure } from "./leave-queue.ts";
import type { QueuedPull } from "./queued-pull.ts";

/** A pull request of a queue that may be merged now. */
interface OpenEntry {
  readonly kind: "fit";
  /** Acts as who queued it. */
  readonly as: Ctx;
  readonly pull: PullContext;
  readonly head: Node;
  /**
   * The latest merge base of the head and the commit that it is merged into; undefined for
   * unrelated histories.
   */
  readonly mergeBase: Node | undefined;
}

/** One that leaves the queue. */
interface UnfitEntry extends Departure {
  readonly kind: "unfit";
}

const unfit = (reason: Departure["reason"], detail = ""): UnfitEntry => ({
  kind: "unfit",
  reason,
  detail,
});

/**
 * Opens a pull request of a queue as who queued it, with their present rights: asks again whatever
 * a merge by the queue needs but the checks.
 *
 * Cost: four round trips to the database.
 *
 * @param branch The base of the queue.
 * @param into The commit that it is merged into.
 */
export async function openQueueEntry(
  ctx: Ctx,
  { entry, doer, number, pull: { repoId } }: QueuedPull,
  { branch, into, snapshot }: { branch: string; into: Node; snapshot: RepositorySnapshot },
): Promise<OpenEntry | UnfitEntry> {
  const as = { ...ctx, actor: accountActor(doer) };
  const [row] = await selectRepositories(ctx.db, callerSql(as.actor)).where(
    eq(repositories.id, repoId),
  );
  if (!row) return unfit("refused", "the repository does not exist");
  const repo = toRepositoryContext(as.actor, row);
  try {
    const pull = await findPull(as, repo, number);
    const reason = findDeparture(entry.headOid, branch, pull);
    if (reason !== undefined) return unfit(reason);
    const head = snapshot.repository.graph.find(entry.headOid);
    if (head === NO_NODE) return unfit("head_changed");
    const mergeBase = latestBase(snapshot, into, head);
    requireMerger(pull);
    requireStyle(repo, entry.style);
    const facts = await loadMergeFacts(as, pull);
    requireUnblocked(facts);
    const { graph } = snapshot.repository;
    const mergeBaseOid = mergeBase === undefined ? "" : graph.oid(mergeBase);
    const refusal = await findMergeRefusal(
      as,
      { ...pull, pull: { ...pull.pull, mergeBaseOid } },
      { isForced: false, repository: snapshot.repository, facts, queue: { asksChecks: false } },
    );
    return refusal === undefined
      ? { kind: "fit", as, pull, head, mergeBase }
      : unfit("refused", refusal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return unfit("refused", error.message);
  }
}

/**
 * Why a pull request is not any more what was queued; undefined if it is.
 *
 * @param headOid The head that was queued.
 * @param branch The base of the queue.
 */
export function findDeparture(
  headOid: string,
  branch: string,
  {
    row,
    pull,
    headTip,
  }: Pick<PullContext, "pull" | "headTip"> & {
    readonly row: Pick<PullContext["row"], "title" | "isClosed">;
  },
): Departure["reason"] | undefined {
  if (pull.mergedAt !== null) return "merged";
  if (row.isClosed) return "closed";
  if (pull.baseBranch !== branch) return "retargeted";
  // Also a push to the head that its pull request does not have yet.
  const isSame = pull.headOid === headOid && (headTip === undefined || headTip === headOid);
  if (!isSame) return "head_changed";
  return isDraftTitle(row.title) ? "draft" : undefined;
}
