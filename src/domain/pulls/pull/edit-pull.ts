import { eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { pulls, repositories } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { asEditRefusal, editStatements, type IssueEdit } from "../../issues/issue/edit-issue.ts";
import { findPossibleAssignees } from "../../issues/issue/find-assignees.ts";
import { pullStatements, toOnePull } from "./find-pull.ts";
import { openRetarget, retargetStatements } from "./retarget-pull.ts";
import { asTaken, isTaken } from "./taken-pair.ts";

/** The changes of an edit of a pull request. Undefined keeps a property. */
export interface PullEdit extends Omit<IssueEdit, "ref" | "estimateSeconds"> {
  /** The branch that it is to be merged into. Ignored for a merged one. */
  readonly base?: string | undefined;
  /** Whether users with write access to the base's repository may push to the head. */
  readonly allowMaintainerEdit?: boolean | undefined;
}

/**
 * Edits a pull request: everything, or nothing if one part is refused. Unchanged properties get no
 * event.
 *
 * Another base needs a new check of mergeability, and drops the approvals.
 *
 * Cost: one round of D1, or two with assignees; for another base also `openPull` and
 * `computeMergeability`.
 *
 * @throws Failure as `editIssue`; `not_found` for a base that is no branch; `invalid` for another
 * base of a closed one; `conflict` if the branches have an open pull request already; `forbidden`
 * for a poster who may not write to the head's repository, and for anybody else, who lets
 * maintainers push to it.
 */
export async function editPull(ctx: Ctx, pull: PullContext, edit: PullEdit): Promise<PullContext> {
  const { repo } = pull;
  const poster = { id: pull.row.posterId };
  const possible = await findPossibleAssignees(ctx, repo, poster, edit.assignees ?? []);
  const [first, ...edits] = editStatements(ctx, pull, edit, possible);
  const retarget = edit.base === undefined ? undefined : await openRetarget(ctx, pull, edit.base);
  try {
    const found = await batch(ctx.db, {
      first,
      // Before its state, since only an open one gets another base.
      retarget: retarget ? retargetStatements(ctx, pull, retarget) : [],
      edits,
      maintainers:
        edit.allowMaintainerEdit === undefined
          ? []
          : maintainerStatements(ctx, pull, edit.allowMaintainerEdit),
      counters: selectCounters(ctx.db, { repoId: repo.row.id }),
      ...pullStatements(ctx, repo, pull.row.number),
    });
    const row = { ...repo.row, ...found.counters[0] };
    const edited = toOnePull(ctx, { ...repo, row }, found);
    if (!edited) throw notFound("pull request does not exist");
    return edited;
  } catch (error) {
    if (retarget && isViolation(error, "NOT NULL", "pulls.base_branch")) {
      throw await asTaken(ctx, pull.repo, isTaken(retarget.pair));
    }
    throw asEditRefusal(error);
  }
}

/** The number of pull requests of a repository changes with their state. */
const selectCounters = prepare((db, { repoId }: Params<{ repoId: number }>) =>
  db
    .select({
      openPullCount: repositories.openPullCount,
      closedPullCount: repositories.closedPullCount,
    })
    .from(repositories)
    .where(eq(repositories.id, repoId)),
);

/** SECURITY: only the poster lets others push to the head, and only where the poster may push. */
function maintainerStatements(
  { db, actor }: Ctx,
  { row, headRepo }: PullContext,
  isAllowedThen: boolean,
): BatchItem<"sqlite">[] {
  const isPoster = row.posterId !== null && row.posterId === actor.user?.id;
  const mayPush = headRepo !== undefined && isAllowed(headRepo, { unit: "code", mode: "write" });
  if (!isPoster || !mayPush) throw forbidden("SetAllowEdits: user not allowed to do this action");
  return [allowMaintainers(db, { issueId: row.id, isAllowed: isAllowedThen })];
}

const allowMaintainers = prepare((db, p: Params<{ issueId: number; isAllowed: boolean }>) =>
  db.update(pulls).set({ allowMaintainerEdit: p.isAllowed }).where(eq(pulls.issueId, p.issueId)),
);
