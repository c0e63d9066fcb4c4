import type {
  CommentPayload,
  IssueAction,
  IssuePayload,
} from "../../../shapes/webhooks/issue-payloads.ts";
import type { Issue } from "../../../shapes/issues/issue.ts";
import {
  GRAY,
  GREEN,
  linkTo,
  type ChatParts,
  type Piece,
  RED,
  shorten,
  YELLOW,
} from "./message-parts.ts";

export const COLORS: Record<IssueAction, number> = {
  opened: GREEN,
  closed: RED,
  reopened: YELLOW,
  edited: YELLOW,
  deleted: RED,
  assigned: GREEN,
  unassigned: GRAY,
  label_updated: YELLOW,
  label_cleared: GRAY,
  milestoned: GREEN,
  demilestoned: GRAY,
};

/** The title, without the issue and the repository. */
export const DEEDS: Record<IssueAction, string> = {
  opened: "opened",
  closed: "closed",
  reopened: "reopened",
  edited: "edited",
  deleted: "deleted",
  assigned: "assigned",
  unassigned: "unassigned",
  label_updated: "labels updated",
  label_cleared: "labels cleared",
  milestoned: "milestone set",
  demilestoned: "milestone removed",
};

/** The message of a change of an issue. */
export function ofIssue(payload: IssuePayload): ChatParts {
  const { action, issue, repository, commit_id: commitId } = payload;
  const url = issue.html_url;
  // A deleted issue has no page.
  const subject: Piece = action === "deleted" ? titleOf(issue) : { text: titleOf(issue), url };
  return {
    color: COLORS[action],
    title: ["[", linkTo(repository), `] Issue ${DEEDS[action]}: `, subject],
    ...(action !== "deleted" && { url }),
    details: detailsOf(action, issue, commitId).map((detail) => [detail]),
  };
}

/** The first line of a new issue, or what it has now. */
export function detailsOf(
  action: IssueAction,
  issue: Pick<Issue, "body" | "assignees" | "labels" | "milestone">,
  commitId: string,
): Piece[] {
  const ofCommit = commitId === "" ? [] : [`Commit ${commitId.slice(0, 10)}`];
  switch (action) {
    case "opened":
      return firstLineOf(issue.body);
    case "closed":
    case "reopened":
      return ofCommit;
    case "assigned":
      return listOf(
        "Assignees",
        issue.assignees.map(({ login }) => login),
      );
    case "label_updated":
      return listOf(
        "Labels",
        issue.labels.map(({ name }) => name),
      );
    case "milestoned":
      return listOf("Milestone", issue.milestone ? [issue.milestone.title] : []);
    default:
      return [];
  }
}

const COMMENT_COLORS = { created: GREEN, edited: YELLOW, deleted: RED } as const;

/** The message of a new, edited or deleted comment. */
export function ofComment({
  action,
  issue,
  comment,
  repository,
  is_pull,
}: CommentPayload): ChatParts {
  const url = action === "deleted" ? issue.html_url : comment.html_url;
  const subject = { text: titleOf(issue), url };
  const kind = is_pull ? "pull request" : "issue";
  return {
    color: COMMENT_COLORS[action],
    title: ["[", linkTo(repository), `] Comment ${action} on ${kind} `, subject],
    url,
    details: action === "deleted" ? [] : firstLineOf(comment.body).map((line) => [line]),
  };
}

export const titleOf = ({ number, title }: { number: number; title: string }): string =>
  `#${number} ${shorten(title)}`;

/** The first line of a text that is not blank. */
export function firstLineOf(text: string): string[] {
  const line = shorten(/\S[^\r\n]*/.exec(text)?.[0] ?? "");
  return line === "" ? [] : [line];
}

const listOf = (name: string, values: readonly string[]): string[] =>
  values.length === 0 ? [] : [`${name}: ${shorten(values.join(", "))}`];
