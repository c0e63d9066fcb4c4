import { z } from "@hono/zod-openapi";

import {
  TIMELINE_KINDS,
  type Label as LabelRow,
  type Milestone as MilestoneRow,
  type Team as TeamRow,
  type TimelineEntry,
  type TimelineKind,
  type User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { Team, toTeam } from "../orgs/team.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { Comment, type CommentContext, commentHtmlUrlOf, toComment } from "./comment.ts";
import { Issue, type IssueContext, issueHtmlUrlOf, toIssue } from "./issue.ts";
import { Label, toLabel } from "./label.ts";
import { Milestone, toMilestone } from "./milestone.ts";
import { TrackedTime, type TrackedTimeContext, toTrackedTime } from "./tracked-time.ts";

export const TimelineComment = z
  .object({
    id: Int64,
    type: z.enum(TIMELINE_KINDS).openapi({ description: "The kind of the entry" }),
    html_url: z.string().openapi({ format: "uri" }),
    pull_request_url: z.string().openapi({ description: "Empty in the timeline of an issue" }),
    issue_url: z.string().openapi({ description: "Empty in the timeline of a pull request" }),
    user: User,
    body: z.string().openapi({
      description:
        "The text of a comment or review; of a label `1` if it was added, empty if it was removed; of pushed commits JSON",
    }),
    created_at: Time,
    updated_at: Time,
    old_project_id: Int64,
    project_id: Int64,
    old_milestone: Milestone.nullable(),
    milestone: Milestone.nullable(),
    tracked_time: TrackedTime.nullable(),
    old_title: z.string(),
    new_title: z.string(),
    old_ref: z.string().openapi({
      description: "The former ref, the former base, or the branch that was deleted",
    }),
    new_ref: z.string(),
    ref_issue: Issue.nullable().openapi({ description: "The issue that refers to this one" }),
    ref_comment: Comment.nullable().openapi({ description: "The comment that refers to this one" }),
    ref_action: z.enum(["none", "closes", "reopens", "neutered"]),
    ref_commit_sha: z.string(),
    review_id: Int64.openapi({
      description: "The review that was submitted, dismissed or requested; 0 for none",
    }),
    label: Label.nullable(),
    assignee: User.nullable(),
    assignee_team: Team.nullable().openapi({ description: "The team whose review is requested" }),
    removed_assignee: z.boolean(),
    resolve_doer: z.null(),
    dependent_issue: Issue.nullable().openapi({ description: "The other issue of a dependency" }),
  })
  .openapi("TimelineComment");
export type TimelineComment = z.infer<typeof TimelineComment>;

/** An entry of a timeline as queries return it, with everything that it refers to. */
export interface TimelineContext {
  /** The issue or pull request of the timeline. */
  readonly issue: IssueContext;
  readonly row: TimelineEntry;
  /** Undefined for a deleted account; the others also where the entry has none. */
  readonly poster: UserRow | undefined;
  readonly assignee: UserRow | undefined;
  /** The team whose review is requested. */
  readonly team: TeamRow | undefined;
  readonly label: LabelRow | undefined;
  readonly milestone: MilestoneRow | undefined;
  readonly oldMilestone: MilestoneRow | undefined;
  readonly otherIssue: IssueContext | undefined;
  readonly otherComment: CommentContext | undefined;
  readonly time: TrackedTimeContext | undefined;
}

/** The kinds whose values are refs. */
const REF_KINDS: ReadonlySet<TimelineKind> = new Set([
  "change_issue_ref",
  "change_target_branch",
  "delete_branch",
]);

const DEPENDENCY_KINDS: ReadonlySet<TimelineKind> = new Set([
  "add_dependency",
  "remove_dependency",
]);

/** Formats an entry of a timeline for `viewer`. */
export function toTimelineComment(entry: TimelineContext, viewer: Viewer): TimelineComment {
  const { issue, row, poster, assignee, team, label, milestone, oldMilestone } = entry;
  const { otherIssue, otherComment, time } = entry;
  const issueUrl = issueHtmlUrlOf(issue, viewer);
  const isTitle = row.kind === "change_title";
  const isRef = REF_KINDS.has(row.kind);
  const other = otherIssue ? toIssue(otherIssue, viewer) : null;
  const isDependency = DEPENDENCY_KINDS.has(row.kind);
  return {
    id: row.id,
    type: row.kind,
    html_url: commentHtmlUrlOf(issue, row.id, viewer),
    pull_request_url: issue.row.isPull ? issueUrl : "",
    issue_url: issue.row.isPull ? "" : issueUrl,
    user: poster ? toUser(poster, viewer) : toGhost(viewer),
    body: row.body,
    created_at: formatTime(row.createdAt),
    updated_at: formatTime(row.updatedAt),
    old_project_id: 0,
    project_id: 0,
    old_milestone: oldMilestone ? toMilestone(oldMilestone) : null,
    milestone: milestone ? toMilestone(milestone) : null,
    tracked_time: time ? toTrackedTime(time, viewer) : null,
    old_title: isTitle ? row.oldValue : "",
    new_title: isTitle ? row.newValue : "",
    old_ref: isRef ? row.oldValue : "",
    new_ref: isRef ? row.newValue : "",
    ref_issue: isDependency ? null : other,
    ref_comment: otherComment ? toComment(otherComment, viewer) : null,
    ref_action: row.refAction,
    // As in Gitea, not for the changes by a commit.
    ref_commit_sha: row.kind === "commit_ref" ? row.commitOid : "",
    review_id: row.reviewId ?? 0,
    label: label ? toLabel(label, issue.repo, viewer) : null,
    assignee: assignee ? toUser(assignee, viewer) : null,
    assignee_team: team ? toTeam(team, null, viewer) : null,
    removed_assignee: row.isAssigneeRemoved,
    resolve_doer: null,
    dependent_issue: isDependency ? other : null,
  };
}
