import type {
  Attachment,
  Issue,
  Label,
  Milestone,
  Pull,
  TimelineEntry,
} from "../../src/db/schema/index.ts";
import type { PayloadContext } from "../../src/events/webhooks/payloads/payload-context.ts";
import type { CommentContext } from "../../src/shapes/issues/comment.ts";
import type { IssueContext } from "../../src/shapes/issues/issue.ts";
import type { PullContext } from "../../src/shapes/pulls/pull-request.ts";

const TIMES = { createdAt: 1000, updatedAt: 1000 };

/** An issue of the context's repository, with one of everything, which is not stored. */
export function issueIn(
  { repo, sender }: Pick<PayloadContext, "repo" | "sender">,
  fields: Partial<Issue> = {},
): IssueContext {
  const row: Issue = {
    id: 3,
    repoId: repo.row.id,
    number: 2,
    isPull: false,
    posterId: sender?.id ?? null,
    originalAuthor: "",
    originalAuthorId: 0,
    title: "It rains",
    body: "\r\n  In every *room*\nof the house",
    contentVersion: 0,
    ref: "",
    isClosed: false,
    closedAt: null,
    isLocked: false,
    milestoneId: 5,
    deadlineAt: null,
    timeEstimateSeconds: 0,
    commentCount: 0,
    conversationVersion: 0,
    pinOrder: 0,
    ...TIMES,
    ...fields,
  };
  const milestone: Milestone = {
    id: 5,
    repoId: repo.row.id,
    title: "spring",
    description: "",
    isClosed: false,
    closedAt: null,
    deadlineAt: null,
    openIssueCount: 1,
    closedIssueCount: 0,
    ...TIMES,
  };
  const attachment: Attachment = {
    id: 9,
    uuid: "u",
    repoId: repo.row.id,
    issueId: 3,
    entryId: null,
    releaseId: null,
    sha256: "",
    uploaderId: null,
    name: "a.png",
    sizeBytes: 1,
    downloadCount: 0,
    createdAt: 1000,
  };
  return {
    repo,
    row,
    poster: sender,
    milestone,
    pull: undefined,
    labels: [labelIn(repo.row.id, "roof")],
    assignees: sender ? [sender] : [],
    attachments: [attachment],
  };
}

/** Like `issueIn`, a pull request of a topic into main. */
export function pullIn(
  context: Pick<PayloadContext, "repo" | "sender">,
  fields: Partial<Pull> = {},
  issueFields: Partial<Issue> = {},
): PullContext {
  const { repo, sender } = context;
  const pull: Pull = {
    issueId: 3,
    repoId: repo.row.id,
    isClosed: false,
    flow: "branch",
    headRepoId: repo.row.id,
    headBranch: "topic",
    baseBranch: "main",
    headOid: "1".repeat(40),
    mergeBaseOid: "2".repeat(40),
    allowMaintainerEdit: false,
    mergeState: "mergeable",
    checkedBaseOid: "2".repeat(40),
    checkedHeadOid: "1".repeat(40),
    conflictPaths: [],
    additions: 3,
    deletions: 1,
    changedFiles: 2,
    aheadCount: 1,
    behindCount: 0,
    mergedAt: null,
    mergerId: null,
    mergeCommitOid: "",
    mergedBaseOid: "",
    mergeKind: null,
    ...fields,
  };
  return {
    ...issueIn(context, { isPull: true, ...issueFields }),
    pull,
    baseTip: pull.checkedBaseOid,
    headTip: pull.headOid,
    headRepo: repo,
    merger: pull.mergedAt === null ? undefined : sender,
    requestedReviewers: sender ? [sender] : [],
    requestedTeams: [],
    reviewCommentCount: 0,
  };
}

export const labelIn = (repoId: number, name: string): Label => ({
  id: 4,
  repoId,
  orgId: null,
  name,
  color: "ee0701",
  description: "",
  isExclusive: false,
  archivedAt: null,
  openIssueCount: 1,
  closedIssueCount: 0,
  ...TIMES,
});

/** A comment by the poster of an issue, which is not stored. */
export function commentOn(issue: IssueContext, body = "Same here"): CommentContext {
  const row: TimelineEntry = {
    id: 6,
    repoId: issue.row.repoId,
    issueId: issue.row.id,
    kind: "comment",
    posterId: issue.row.posterId,
    originalAuthor: "",
    originalAuthorId: 0,
    body,
    contentVersion: 0,
    labelId: null,
    milestoneId: null,
    oldMilestoneId: null,
    assigneeId: null,
    isAssigneeRemoved: false,
    reviewId: null,
    teamId: null,
    oldValue: "",
    newValue: "",
    otherIssueId: null,
    otherEntryId: null,
    refAction: "none",
    commitOid: "",
    commitRepoId: null,
    timeId: null,
    ...TIMES,
  };
  return { issue, row, poster: issue.poster, attachments: [] };
}
