import type { Child } from "hono/jsx";

import type { TimelineKind } from "../../../db/schema/index.ts";
import { formatDuration } from "../../../lib/duration.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { TimelineContext } from "../../../shapes/issues/timeline-comment.ts";
import { accountPath, commitPath, issuePath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Icon } from "../icon.tsx";
import { LabelChip } from "./label.tsx";
import { UserText } from "../user-text.tsx";

/** What an entry says happened, after the name of who did it. */
type Words = (entry: TimelineContext) => Child;

const name = (account: { readonly name: string } | undefined): Child =>
  account ? <a href={accountPath(account)}>{account.name}</a> : "Ghost";

/** A link to another issue, with its title. */
function Other({ issue }: { issue: IssueContext | undefined }) {
  if (!issue) return <>an issue</>;
  const { repo, row } = issue;
  return (
    <a
      href={issuePath(issue)}
    >{`${repo.owner.name}/${repo.row.name}#${row.number} ${row.title}`}</a>
  );
}

const Milestone = ({ entry: { issue, milestone } }: { entry: TimelineContext }) =>
  milestone ? (
    <a href={`${repositoryPath(issue.repo)}/milestone/${milestone.id}`}>{milestone.title}</a>
  ) : (
    <>a deleted milestone</>
  );

const Title = ({ text }: { text: string }) => <strong>{text}</strong>;

/** What a commit or a reference does to the issue. */
const effectOf = ({ row: { refAction } }: TimelineContext): string => {
  if (refAction === "closes") return ", which closes it";
  return refAction === "reopens" ? ", which reopens it" : "";
};

const reference: Words = (entry) => (
  <>
    {"mentioned this in "}
    <Other issue={entry.otherIssue} />
    {effectOf(entry)}
  </>
);

/** The commit of an entry; a link where it is one of this repository. */
function Commit({ entry: { row, issue } }: { entry: TimelineContext }) {
  const text = row.commitOid.slice(0, 10);
  const isHere = row.commitRepoId === null || row.commitRepoId === issue.repo.row.id;
  if (!isHere) return <span class="oid">{text}</span>;
  return (
    <a class="oid" href={commitPath(issue.repo, row.commitOid)}>
      {text}
    </a>
  );
}

const byCommit = (entry: TimelineContext): Child =>
  entry.row.commitOid === "" ? undefined : (
    <>
      {" by "}
      <Commit entry={entry} />
    </>
  );

/** The commits of an entry about pushed ones: the form that `toPushBody` writes. */
function readPush(body: string): { isForced: boolean; oids: string[] } {
  try {
    const { is_force_push: isForced, commit_ids: oids } = JSON.parse(body) as {
      is_force_push: boolean;
      commit_ids: string[];
    };
    return { isForced, oids };
  } catch {
    return { isForced: false, oids: [] };
  }
}

/** Commits of a push that are linked. */
const OIDS_MAX = 10;

function Push({ entry: { row, issue } }: { entry: TimelineContext }) {
  const { isForced, oids } = readPush(row.body);
  const count = `${oids.length} commit${oids.length === 1 ? "" : "s"}`;
  return (
    <>
      {isForced ? "pushed again, from and to " : `pushed ${count} `}
      {oids.slice(-OIDS_MAX).map((oid) => (
        <>
          <a class="oid" href={commitPath(issue.repo, oid)}>
            {oid.slice(0, 10)}
          </a>{" "}
        </>
      ))}
    </>
  );
}

/** The words of entries that have no text of their own. */
const WORDS: Readonly<Record<Exclude<TimelineKind, "comment" | "code" | "review">, Words>> = {
  reopen: (entry) => <>reopened this{byCommit(entry)}</>,
  close: (entry) => <>closed this{byCommit(entry)}</>,
  issue_ref: reference,
  comment_ref: reference,
  pull_ref: reference,
  commit_ref: (entry) => (
    <>
      {"mentioned this in commit "}
      <Commit entry={entry} />
      {effectOf(entry)}
    </>
  ),
  label: ({ row, label }) => (
    <>
      {row.body === "" ? "removed the label " : "added the label "}
      {label ? <LabelChip label={label} /> : undefined}
    </>
  ),
  milestone: (entry) =>
    entry.milestone ? (
      <>
        {entry.oldMilestone
          ? `changed the milestone ${entry.oldMilestone.title} to `
          : "added to the milestone "}
        <Milestone entry={entry} />
      </>
    ) : (
      `removed from the milestone ${entry.oldMilestone?.title ?? ""}`
    ),
  assignees: ({ row, poster, assignee }) => {
    const isSelf = poster !== undefined && poster.id === assignee?.id;
    if (isSelf) return row.isAssigneeRemoved ? "is no longer assigned" : "took this on";
    return (
      <>
        {row.isAssigneeRemoved ? "unassigned " : "assigned "}
        {name(assignee)}
      </>
    );
  },
  change_title: ({ row }) => (
    <>
      {"changed the title "}
      <del>{row.oldValue}</del>
      {" to "}
      <Title text={row.newValue} />
    </>
  ),
  start_tracking: () => "started working",
  stop_tracking: ({ time, row }) => `worked ${time ? formatDuration(time.row.seconds) : row.body}`,
  add_time_manual: ({ time, row }) =>
    `added ${time ? formatDuration(time.row.seconds) : row.body} of work`,
  cancel_tracking: () => "cancelled the stopwatch",
  delete_time_manual: ({ row }) => `removed ${row.body} of work`,
  added_deadline: ({ row }) => `set the due date to ${row.body}`,
  modified_deadline: ({ row }) => {
    const [to = "", from = ""] = row.body.split("|");
    return `changed the due date from ${from} to ${to}`;
  },
  removed_deadline: ({ row }) => `removed the due date ${row.body}`,
  add_dependency: ({ otherIssue }) => (
    <>
      {"made this wait for "}
      <Other issue={otherIssue} />
    </>
  ),
  remove_dependency: ({ otherIssue }) => (
    <>
      {"made this no longer wait for "}
      <Other issue={otherIssue} />
    </>
  ),
  lock: ({ row }) => `locked the conversation${row.body === "" ? "" : `: ${row.body}`}`,
  unlock: () => "unlocked the conversation",
  change_issue_ref: ({ row }) =>
    row.newValue === "" ? "removed the branch" : `set the branch to ${row.newValue}`,
  pin: () => "pinned this",
  unpin: () => "unpinned this",
  change_time_estimate: ({ row }) =>
    row.body === "" ? "removed the estimate" : `estimated ${row.body}`,
  review_request: ({ row, assignee, team }) => (
    <>
      {row.isAssigneeRemoved ? "no longer requests a review from " : "requested a review from "}
      {team ? team.name : name(assignee)}
    </>
  ),
  dismiss_review: ({ row }) => `dismissed a review${row.body === "" ? "" : `: ${row.body}`}`,
  change_target_branch: ({ row }) => (
    <>
      {"changed the base from "}
      <Title text={row.oldValue} />
      {" to "}
      <Title text={row.newValue} />
    </>
  ),
  delete_branch: ({ row }) => (
    <>
      {"deleted the branch "}
      <Title text={row.oldValue} />
    </>
  ),
  pull_push: (entry) => <Push entry={entry} />,
  merge_pull: (entry) => <>merged this{byCommit(entry)}</>,
  pull_scheduled_merge: () => "scheduled the merge for when all checks have succeeded",
  pull_cancel_scheduled_merge: () => "cancelled the scheduled merge",
  pull_enqueued: () => "added this to the merge queue",
  pull_dequeued: ({ row }) =>
    `took this out of the merge queue${row.body === "" ? "" : `: ${row.body}`}`,
};

const ICONS: Partial<Record<TimelineKind, string>> = {
  close: "check",
  merge_pull: "pull",
  reopen: "issue",
  label: "tag",
  pull_push: "commit",
  commit_ref: "commit",
  lock: "lock",
  assignees: "people",
  review_request: "eye",
};

/** An entry without a text: who did what, in one line. */
export function EventEntry({ entry, now }: { entry: TimelineContext; now: number }) {
  const { row, poster } = entry;
  const words =
    row.kind === "comment" || row.kind === "code" || row.kind === "review"
      ? undefined
      : WORDS[row.kind];
  return (
    <li class="event" id={`issuecomment-${row.id}`}>
      <Icon name={ICONS[row.kind] ?? "dot"} />
      <span id={`event-${row.id}`}>
        {row.originalAuthor === "" ? name(poster) : row.originalAuthor} {words?.(entry)}{" "}
        <a class="soft" href={`#issuecomment-${row.id}`}>
          <Ago at={row.createdAt} now={now} />
        </a>
      </span>
    </li>
  );
}

/** A text of a user as HTML that was sanitized; words instead of an empty one. */
export function Text({ html, empty }: { html: string; empty: string }) {
  if (html.trim() === "") return <p class="inside soft">{empty}</p>;
  return <UserText html={html} />;
}
