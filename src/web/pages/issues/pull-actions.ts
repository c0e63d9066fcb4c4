import { requireAccess } from "../../../auth/access/permission.ts";
import { MERGE_STYLES } from "../../../db/schema/index.ts";
import { requireNotArchived } from "../../../domain/issues/issue/require-issue-access.ts";
import { deleteMergedBranch } from "../../../domain/pulls/merge/delete-merged-branch.ts";
import { mergePull, MergeQueueRequired } from "../../../domain/pulls/merge/merge-pull.ts";
import { dequeuePull } from "../../../domain/pulls/merge/queue/dequeue-pull.ts";
import { enqueuePull } from "../../../domain/pulls/merge/queue/enqueue-pull.ts";
import { restoreHeadBranch } from "../../../domain/pulls/merge/restore-head-branch.ts";
import { revertPull } from "../../../domain/pulls/merge/revert-pull.ts";
import { cancelMerge, scheduleMerge } from "../../../domain/pulls/merge/schedule-merge.ts";
import { updateHeadBranch } from "../../../domain/pulls/merge/update-head-branch.ts";
import { invalidField, notApplicable, notFound } from "../../../lib/failure.ts";
import { comparePath } from "../addresses.ts";
import type { Action } from "./action.ts";
import { CODE_ACTIONS } from "./code-actions.ts";
import { onPull } from "./on-pull.ts";
import { REVIEWER_ACTIONS } from "./reviewer-actions.ts";
import { readMarkdown } from "../read-markdown.ts";
import { TITLE_CHARS_MAX } from "../text-field.tsx";

const merge = onPull(async (pull, { ctx, user, form }) => {
  const style = MERGE_STYLES.find((each) => each === form.text("style"));
  if (!style) throw invalidField("style", "must be one of the choices");
  const options = {
    style,
    title: form.line("title", TITLE_CHARS_MAX),
    message: readMarkdown(form, "message", false),
    isBranchDeleted: form.isSet("delete_branch"),
  };
  if (form.text("when") === "ready") return scheduleMerge(ctx, pull, user, options);
  const headOid = form.text("head");
  try {
    await mergePull(ctx, pull, user, { ...options, headOid, isForced: form.isSet("force") });
  } catch (error) {
    if (!(error instanceof MergeQueueRequired)) throw error;
    return enqueuePull(ctx, pull, user, { ...options, headOid });
  }
  if (options.isBranchDeleted) await deleteMergedBranch(ctx, pull);
});

/** What the forms of a pull request do, by the name that they send as `action`. */
export const PULL_ACTIONS = {
  merge,
  ...CODE_ACTIONS,
  ...REVIEWER_ACTIONS,
  "cancel-merge": onPull((pull, { ctx, user }) => cancelMerge(ctx, pull, user)),
  dequeue: onPull((pull, { ctx, user }) => dequeuePull(ctx, pull, user)),
  update: onPull(async (pull, { ctx, user, form }) => {
    await updateHeadBranch(ctx, pull, user, form.text("style") === "rebase" ? "rebase" : "merge");
  }),
  "delete-branch": onPull(async (pull, { ctx }) => {
    const { headRepo } = pull;
    if (pull.pull.mergedAt === null) throw notApplicable("The pull request is not merged.");
    if (!headRepo) throw notFound();
    requireAccess(headRepo, { unit: "code", mode: "write" });
    requireNotArchived(headRepo);
    await deleteMergedBranch(ctx, pull);
  }),
  "restore-branch": onPull((pull, { ctx }) => restoreHeadBranch(ctx, pull)),
  revert: onPull(async (pull, { ctx, user }) => ({
    path: comparePath(pull.repo, pull.pull.baseBranch, await revertPull(ctx, pull, user)),
  })),
} as const satisfies Record<string, Action>;
