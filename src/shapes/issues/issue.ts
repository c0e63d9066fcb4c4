import { z } from "@hono/zod-openapi";

import type {
  Attachment as AttachmentRow,
  Issue as IssueRow,
  Label as LabelRow,
  Milestone as MilestoneRow,
  Pull as PullRow,
  User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf, htmlUrlOf, type Root } from "../urls.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { Attachment, toAttachment } from "./attachment.ts";
import { Label, toLabel } from "./label.ts";
import { Milestone, toMilestone } from "./milestone.ts";
import { State, stateOf } from "./state.ts";

const RepositoryMeta = z
  .object({ id: Int64, name: z.string(), owner: z.string(), full_name: z.string() })
  .openapi("RepositoryMeta");

const PullRequestMeta = z
  .object({
    merged: z.boolean(),
    merged_at: TimeOrNull,
    draft: z.boolean(),
    html_url: z.string().openapi({ format: "uri" }),
  })
  .openapi("PullRequestMeta");

export const Issue = z
  .object({
    id: Int64,
    url: z.string().openapi({ format: "uri" }),
    html_url: z.string().openapi({ format: "uri" }),
    number: Int64,
    user: User,
    original_author: z.string(),
    original_author_id: Int64,
    title: z.string(),
    body: z.string(),
    ref: z.string(),
    assets: z.array(Attachment),
    labels: z.array(Label),
    milestone: Milestone.nullable(),
    assignee: User.nullable().openapi({ description: "The first of the assignees" }),
    assignees: z.array(User),
    state: State,
    is_locked: z.boolean(),
    comments: Int64.openapi({ description: "The number of its comments" }),
    created_at: Time,
    updated_at: Time,
    closed_at: TimeOrNull,
    due_date: TimeOrNull,
    time_estimate: Int64.openapi({ description: "In seconds" }),
    pull_request: PullRequestMeta.nullable().openapi({ description: "Null for an issue" }),
    repository: RepositoryMeta,
    pin_order: Int64.openapi({ description: "From 1; 0 if it is not pinned" }),
    content_version: Int64.openapi({
      description: "The version of the body, which an edit may name to find out about others",
    }),
  })
  .openapi("Issue");
export type Issue = z.infer<typeof Issue>;

/** An issue or pull request as queries return it. */
export interface IssueContext {
  readonly repo: RepositoryContext;
  readonly row: IssueRow;
  /** Undefined for a deleted account. */
  readonly poster: UserRow | undefined;
  readonly milestone: MilestoneRow | undefined;
  /** The properties of a pull request; undefined for an issue. */
  readonly pull: PullRow | undefined;
  /** By name. */
  readonly labels: readonly LabelRow[];
  /** By the order in which they were assigned. */
  readonly assignees: readonly UserRow[];
  /** The files of the issue itself, oldest first. */
  readonly attachments: readonly AttachmentRow[];
}

/** The names of an issue, for its URLs. */
export type IssueNames = Pick<IssueContext, "repo"> & {
  readonly row: Pick<IssueRow, "number" | "isPull">;
};

/** The API URL of an issue or pull request, which is below `issues` for both. */
export const issueApiUrlOf = ({ repo, row }: IssueNames, root: Root): string =>
  `${apiUrlOf(repo, root)}/issues/${row.number}`;

/** The URL of the web page of an issue or pull request. */
export const issueHtmlUrlOf = ({ repo, row }: IssueNames, root: Root): string =>
  `${htmlUrlOf(repo, root)}/${row.isPull ? "pulls" : "issues"}/${row.number}`;

/** Formats an issue or pull request for `viewer`. */
export function toIssue(issue: IssueContext, viewer: Viewer): Issue {
  const { repo, row, poster, milestone } = issue;
  const assignees = issue.assignees.map((each) => toUser(each, viewer));
  const htmlUrl = issueHtmlUrlOf(issue, viewer);
  return {
    id: row.id,
    url: issueApiUrlOf(issue, viewer),
    html_url: htmlUrl,
    number: row.number,
    user: poster ? toUser(poster, viewer) : toGhost(viewer),
    original_author: row.originalAuthor,
    original_author_id: row.originalAuthorId,
    title: row.title,
    body: row.body,
    ref: row.ref,
    assets: issue.attachments.map((each) => toAttachment(each, viewer)),
    labels: issue.labels.map((each) => toLabel(each, repo, viewer)),
    milestone: milestone ? toMilestone(milestone) : null,
    assignee: assignees[0] ?? null,
    assignees,
    state: stateOf(row),
    is_locked: row.isLocked,
    comments: row.commentCount,
    created_at: formatTime(row.createdAt),
    updated_at: formatTime(row.updatedAt),
    closed_at: formatTimeOrNull(row.closedAt),
    due_date: formatTimeOrNull(row.deadlineAt),
    time_estimate: row.timeEstimateSeconds,
    pull_request: row.isPull ? toPullRequestMeta(issue, htmlUrl) : null,
    repository: {
      id: repo.row.id,
      name: repo.row.name,
      owner: repo.owner.name,
      full_name: `${repo.owner.name}/${repo.row.name}`,
    },
    pin_order: row.pinOrder,
    content_version: row.contentVersion,
  };
}

const toPullRequestMeta = (
  { row, pull }: IssueContext,
  htmlUrl: string,
): z.infer<typeof PullRequestMeta> => {
  const mergedAt = pull?.mergedAt ?? null;
  return {
    merged: mergedAt !== null,
    merged_at: formatTimeOrNull(mergedAt),
    draft: isDraftTitle(row.title),
    html_url: htmlUrl,
  };
};

/** Whether the title of a pull request marks it as work in progress. */
export const isDraftTitle = (title: string): boolean => /^(?:wip:|\[wip\])/i.test(title);
