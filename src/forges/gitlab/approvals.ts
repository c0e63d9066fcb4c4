import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { shortText, time, timeOrNull } from "../fields.ts";
import type { ForeignReview, ForeignUser } from "../forge.ts";
import { numberOfPull } from "./numbering.ts";
import type { GitLabProject, PartPage } from "./project.ts";
import { isAbsent, isGone } from "./requests.ts";
import { type MergeRequest, GitLabUser } from "./shapes.ts";

const Approvals = z.object({
  approved_by: z
    .array(z.object({ user: GitLabUser, approved_at: timeOrNull.optional() }))
    .max(1000),
});

const Reviewer = z.object({ user: GitLabUser, state: shortText, created_at: time });

/**
 * Reads the approvals of a merge request, the requests for changes, and the review requests that
 * are not answered.
 *
 * Only newer versions have the time of an approval: for others the time of the merge or of the last
 * change stands for it.
 */
export async function readApprovals(
  project: GitLabProject,
  item: MergeRequest,
): Promise<PartPage<ForeignReview>> {
  const approvals = await readApprovers(project, item);
  const reviewers = item.reviewers.length === 0 ? [] : await readReviewers(project, item);
  const approverIds = new Set(approvals.map(({ user }) => user.id));
  const items = approvals.map(({ user, approved_at: at }) =>
    toReview(project, item, user, "approved", at ?? item.merged_at ?? item.updated_at),
  );
  for (const { user, state, createdAt } of reviewers) {
    if (approverIds.has(user.id)) continue;
    if (state === "requested_changes") {
      items.push(toReview(project, item, user, "request_changes", createdAt));
    } else if (state === "unreviewed" || state === "review_started" || state === "unapproved") {
      items.push(toReview(project, item, user, "request_review", createdAt));
    }
  }
  const hasComments = item.user_notes_count !== 0;
  return { items, next: hasComments ? { id: item.id, page: 1, doneCount: 0 } : undefined };
}

function toReview(
  { numbering }: GitLabProject,
  { id, iid }: MergeRequest,
  reviewer: ForeignUser,
  state: "approved" | "request_changes" | "request_review",
  createdAt: number,
): ForeignReview {
  return {
    foreignId: `${state}/${id}/${reviewer.id}`,
    number: numberOfPull(numbering, iid),
    reviewer,
    state,
    isDismissed: false,
    // GitLab lists only approvers who may approve.
    isOfficial: state === "approved",
    body: "",
    commitOid: "",
    createdAt,
    comments: [],
  };
}

/** Approvals are shown to accounts only, and in old versions not in the free edition. */
async function readApprovers({ requests, root, isAnonymous }: GitLabProject, item: MergeRequest) {
  if (isAnonymous) return [];
  try {
    const { value } = await requests.get(`${root}/merge_requests/${item.iid}/approvals`, Approvals);
    return value.approved_by;
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** The requested reviewers with their states. Before version 13.12 all count as unreviewed. */
async function readReviewers(
  { requests, root }: GitLabProject,
  { iid, reviewers, created_at: createdAt }: MergeRequest,
): Promise<{ user: ForeignUser; state: string; createdAt: number }[]> {
  try {
    const path = `${root}/merge_requests/${iid}/reviewers`;
    const { value } = await requests.get(path, boundedList(Reviewer, 1000), { per_page: 100 });
    return value.map(({ user, state, created_at: at }) => ({ user, state, createdAt: at }));
  } catch (error) {
    if (isAbsent(error)) {
      return reviewers.map((user) => ({ user, state: "unreviewed", createdAt }));
    }
    throw error;
  }
}
