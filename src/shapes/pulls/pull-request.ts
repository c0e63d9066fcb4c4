import { z } from "@hono/zod-openapi";

import {
  ACCESS,
  type Pull as PullRow,
  type Team as TeamRow,
  type User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { type IssueContext, isDraftTitle, issueHtmlUrlOf } from "../issues/issue.ts";
import { Label, toLabel } from "../issues/label.ts";
import { Milestone, toMilestone } from "../issues/milestone.ts";
import { State, stateOf } from "../issues/state.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";
import { Team, toTeam } from "../orgs/team.ts";
import { Repository, type RepositoryContext, toRepository } from "../repos/repository.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

const PullRequestBranch = z
  .object({
    label: z.string(),
    ref: z.string().openapi({
      description: "The branch; `refs/pull/N/head` where the branch of a head does not exist",
    }),
    sha: z.string(),
    repo_id: Int64,
    repo: Repository.nullable().openapi({
      description: "Null if it does not exist any more, or is not visible to the caller",
    }),
  })
  .openapi("PRBranchInfo");

export const PullRequest = z
  .object({
    id: Int64,
    url: z.string().openapi({ format: "uri" }),
    number: Int64,
    user: User,
    title: z.string(),
    body: z.string(),
    labels: z.array(Label),
    milestone: Milestone.nullable(),
    assignee: User.nullable().openapi({ description: "The first of the assignees" }),
    assignees: z.array(User),
    requested_reviewers: z.array(User),
    requested_reviewers_teams: z.array(Team),
    state: State,
    draft: z.boolean().openapi({ description: "Whether the title begins with `WIP:` or `[WIP]`" }),
    is_locked: z.boolean(),
    comments: Int64,
    review_comments: Int64.optional(),
    additions: Int64.optional(),
    deletions: Int64.optional(),
    changed_files: Int64.optional(),
    html_url: z.string().openapi({ format: "uri" }),
    diff_url: z.string().openapi({ format: "uri" }),
    patch_url: z.string().openapi({ format: "uri" }),
    mergeable: z.boolean().openapi({
      description: "False also while that is being worked out, and for a draft",
    }),
    merged: z.boolean(),
    merged_at: TimeOrNull,
    merge_commit_sha: z.string().nullable(),
    merged_by: User.nullable(),
    allow_maintainer_edit: z.boolean(),
    base: PullRequestBranch,
    head: PullRequestBranch,
    merge_base: z.string(),
    due_date: TimeOrNull,
    created_at: Time,
    updated_at: Time,
    closed_at: TimeOrNull,
    pin_order: Int64.openapi({ description: "From 1; 0 if it is not pinned" }),
  })
  .openapi("PullRequest");
export type PullRequest = z.infer<typeof PullRequest>;

/** A pull request as queries return it. `repo` is the repository of its base. */
export interface PullContext extends IssueContext {
  readonly pull: PullRow;
  /** The value of the base's branch; undefined if it does not exist. */
  readonly baseTip: string | undefined;
  /**
   * The value of the head's branch, which may not be synchronized yet; undefined if it does not
   * exist, or is a topic.
   */
  readonly headTip: string | undefined;
  /** Undefined if it does not exist any more; its permission may be none. */
  readonly headRepo: RepositoryContext | undefined;
  /** Undefined if it is not merged, or the account is deleted. */
  readonly merger: UserRow | undefined;
  /** Users with a pending request or a review that was not dismissed, first to last. */
  readonly requestedReviewers: readonly UserRow[];
  readonly requestedTeams: readonly TeamRow[];
  readonly reviewCommentCount: number;
}

/** Whether the present head and base of a pull request were checked for mergeability. */
export const isMergeabilityCurrent = ({
  pull,
  baseTip,
}: Pick<PullContext, "pull" | "baseTip">): boolean =>
  pull.mergeState !== "checking" &&
  pull.checkedHeadOid === pull.headOid &&
  pull.checkedBaseOid === baseTip;

/** Whether no known conflict of contents prevents a merge. */
function isMergeable(context: PullContext): boolean {
  const { pull, row } = context;
  if (pull.mergedAt !== null) return true;
  const isFit = ["mergeable", "empty", "ancestor"].includes(pull.mergeState);
  return isFit && (row.isClosed || isMergeabilityCurrent(context)) && !isDraftTitle(row.title);
}

/** Formats pull requests for `viewer`, as they are in lists. */
export function toListedPullRequests(
  contexts: readonly PullContext[],
  viewer: Viewer,
): PullRequest[] {
  // Most have the same repository as base and as head.
  const shapes = new Map<RepositoryContext, Repository>();
  const toShape = (repo: RepositoryContext): Repository => {
    const shape = shapes.get(repo) ?? toRepository(repo, viewer);
    shapes.set(repo, shape);
    return shape;
  };
  return contexts.map((each) => toListed(each, viewer, toShape));
}

type ToShape = (repo: RepositoryContext) => Repository;

function toListed(context: PullContext, viewer: Viewer, toShape: ToShape): PullRequest {
  const { repo, row, pull, poster, milestone, merger } = context;
  const assignees = context.assignees.map((each) => toUser(each, viewer));
  const htmlUrl = issueHtmlUrlOf(context, viewer);
  return {
    id: row.id,
    url: htmlUrl,
    number: row.number,
    user: poster ? toUser(poster, viewer) : toGhost(viewer),
    title: row.title,
    body: row.body,
    labels: context.labels.map((each) => toLabel(each, repo, viewer)),
    milestone: milestone ? toMilestone(milestone) : null,
    assignee: assignees[0] ?? null,
    assignees,
    requested_reviewers: context.requestedReviewers.map((each) => toUser(each, viewer)),
    requested_reviewers_teams: context.requestedTeams.map((each) => toTeam(each, null, viewer)),
    state: stateOf(row),
    draft: isDraftTitle(row.title),
    is_locked: row.isLocked,
    comments: row.commentCount,
    ...(context.reviewCommentCount > 0 && { review_comments: context.reviewCommentCount }),
    html_url: htmlUrl,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    mergeable: isMergeable(context),
    merged: pull.mergedAt !== null,
    merged_at: formatTimeOrNull(pull.mergedAt),
    merge_commit_sha: pull.mergeCommitOid || null,
    merged_by: merger ? toUser(merger, viewer) : null,
    allow_maintainer_edit: pull.allowMaintainerEdit,
    base: {
      label: pull.baseBranch,
      ref: pull.baseBranch,
      sha: context.baseTip ?? pull.checkedBaseOid,
      repo_id: row.repoId,
      repo: toShape(repo),
    },
    head: toHead(context, toShape),
    merge_base: pull.mergeBaseOid,
    due_date: formatTimeOrNull(row.deadlineAt),
    created_at: formatTime(row.createdAt),
    updated_at: formatTime(row.updatedAt),
    closed_at: formatTimeOrNull(row.closedAt),
    pin_order: row.pinOrder,
  };
}

/** Formats a pull request for `viewer`. */
export const toPullRequest = (context: PullContext, viewer: Viewer): PullRequest => ({
  ...toListed(context, viewer, (repo) => toRepository(repo, viewer)),
  additions: context.pull.additions,
  deletions: context.pull.deletions,
  changed_files: context.pull.changedFiles,
});

function toHead(context: PullContext, toShape: ToShape): PullRequest["head"] {
  const { row, pull, headRepo, headTip } = context;
  // SECURITY: a pull request does not open the repository of its head to everybody who may read it.
  const isShown = headRepo !== undefined && headRepo.permission.mode !== ACCESS.none;
  return {
    label: pull.headBranch,
    ref: headTip === undefined ? `refs/pull/${row.number}/head` : pull.headBranch,
    sha: pull.headOid,
    repo_id: pull.headRepoId,
    repo: isShown ? toShape(headRepo) : null,
  };
}
