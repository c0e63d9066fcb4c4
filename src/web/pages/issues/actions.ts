import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import {
  toCommentDeletion,
  toIssueDeletion,
} from "../../../domain/exchange/webhooks/dispatch/deletion-payload.ts";
import { ATTACHMENT_NAME_MAX } from "../../../domain/issues/attachments/attachment-name.ts";
import {
  type AttachmentOfSubject,
  deleteAttachment,
  renameAttachment,
} from "../../../domain/issues/attachments/change-attachment.ts";
import { findAttachment } from "../../../domain/issues/attachments/find-attachment.ts";
import { createComment } from "../../../domain/issues/comments/create-comment.ts";
import { deleteComment } from "../../../domain/issues/comments/delete-comment.ts";
import { editComment } from "../../../domain/issues/comments/edit-comment.ts";
import { findCommentAndIssue } from "../../../domain/issues/comments/find-comment.ts";
import { addDependency } from "../../../domain/issues/dependencies/add-dependency.ts";
import { findPair } from "../../../domain/issues/dependencies/find-pair.ts";
import { removeDependency } from "../../../domain/issues/dependencies/remove-dependency.ts";
import { changeLabels, requireUsableLabels } from "../../../domain/issues/issue/change-labels.ts";
import { deleteIssue } from "../../../domain/issues/issue/delete-issue.ts";
import { editIssue, type IssueEdit } from "../../../domain/issues/issue/edit-issue.ts";
import { findIssue } from "../../../domain/issues/issue/find-issue.ts";
import { lockIssue } from "../../../domain/issues/issue/lock-issue.ts";
import { pinIssue, unpinIssue } from "../../../domain/issues/issue/pin-issue.ts";
import { requireIssueWrite } from "../../../domain/issues/issue/require-issue-access.ts";
import { requireLabeling } from "../../../domain/issues/issue/require-labeling.ts";
import { changeSubscription } from "../../../domain/issues/notifications/issue-subscriptions.ts";
import { addReaction, removeReaction } from "../../../domain/issues/reactions/change-reactions.ts";
import { addTime } from "../../../domain/issues/times/add-time.ts";
import {
  cancelStopwatch,
  startStopwatch,
  stopStopwatch,
} from "../../../domain/issues/times/change-stopwatch.ts";
import { forbidden, invalidField, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { repositoryPath } from "../addresses.ts";
import type { Form } from "../form.ts";
import { type Action, type Done, FORMER_TITLE } from "./action.ts";
import { readUsers } from "./properties.tsx";
import { PULL_ACTIONS } from "./pull-actions.ts";
import { readId } from "../read-id.ts";
import { readDay } from "./day.ts";
import { readLabelIds } from "./label-choices.tsx";
import { readMarkdown } from "../read-markdown.ts";

/** Characters of names and reasons. */
const LINE_CHARS_MAX = 255;

const edit =
  (toEdit: (form: Form) => IssueEdit): Action =>
  async ({ ctx, repo, number, form }) => {
    await editIssue(ctx, repo, number, toEdit(form));
  };

/** An action for those who may write to the issue's unit. */
const forWriters =
  (
    change: (
      ctx: Ctx,
      issue: Awaited<ReturnType<typeof findIssue>>,
      form: Form,
    ) => Promise<Done | void>,
  ): Action =>
  async ({ ctx, repo, number, form }) => {
    const issue = await findIssue(ctx, repo, number);
    requireIssueWrite(issue);
    return change(ctx, issue, form);
  };

/** An action for administrators of the repository, as the guards of the same endpoints say. */
const forAdministrators =
  (change: Parameters<typeof forWriters>[0]): Action =>
  async (sent) => {
    if (!isAllowed(sent.repo, { mode: "admin" })) {
      throw forbidden("only administrators of the repository may do this");
    }
    return forWriters(change)(sent);
  };

const subscribe =
  (isSubscribed: boolean): Action =>
  async ({ ctx, repo, number, user }) => {
    await changeSubscription(ctx, repo, number, { name: user.name, isSubscribed });
  };

/** Hours, minutes and seconds, as `formatEstimate` writes them. */
const DURATION = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/i;

/** @throws Failure `invalid` for a text that is no duration. */
function readDuration(form: Form): number {
  const text = form.line("duration", LINE_CHARS_MAX).replaceAll(/\s/g, "");
  if (text === "") return 0;
  const [, hours = 0, minutes = 0, seconds = 0] = DURATION.exec(text) ?? [];
  const total = 3600 * Number(hours) + 60 * Number(minutes) + Number(seconds);
  if (total === 0) throw invalidField("duration", "must be a duration such as 1h 30m");
  return total;
}

/** Whether the issue is closed by the button of the form that comments on it. */
const STATES: Readonly<Record<string, boolean>> = { close: true, reopen: false };

const comment: Action = async ({ ctx, repo, number, form }) => {
  const state = STATES[form.text("state")];
  const body = readMarkdown(form, "body", state === undefined);
  if (body.trim() === "") {
    await editIssue(ctx, repo, number, { isClosed: state });
    return { anchor: "new-comment" };
  }
  const openedAt = Number(form.text("opened_at"));
  const { row } = await createComment(ctx, await findIssue(ctx, repo, number), body, {
    unlessSince: Number.isSafeInteger(openedAt) ? openedAt : undefined,
    isClosed: state,
  });
  return { entryId: row.id };
};

/** The other issue of a form: `12`, `#12` or `owner/name#12`. */
function readOther(form: Form, { owner, row }: RepositoryContext) {
  const text = form.line("issue", LINE_CHARS_MAX);
  const match = /^(?:(?<owner>[^/#\s]+)\/(?<repo>[^/#\s]+))?[#!]?(?<index>\d{1,15})$/.exec(text);
  if (!match?.groups) throw invalidField("issue", "must be a number, or owner/name#number");
  const { owner: named = owner.name, repo = row.name, index } = match.groups;
  return { owner: named, repo, index: Number(index) };
}

const dependency =
  (verb: typeof addDependency | typeof removeDependency): Action =>
  async ({ ctx, repo, number, form }) => {
    const { issue, other } = await findPair(ctx, repo, number, readOther(form, repo));
    await verb(ctx, { blocked: issue, blocker: other }, issue);
  };

const labels: Action = async ({ ctx, repo, number, form }) => {
  const ids = readLabelIds(form);
  const [issue] = await Promise.all([
    findIssue(ctx, repo, number),
    requireUsableLabels(ctx, repo, ids),
  ]);
  requireLabeling(issue);
  await changeLabels(ctx, issue, { kind: "replace", labels: { ids } });
};

const react: Action = async ({ ctx, repo, number, form }) => {
  const id = form.text("comment");
  const [added, removed] = [form.text("add"), form.text("remove")];
  const subject =
    id === ""
      ? { issue: await findIssue(ctx, repo, number) }
      : await findCommentAndIssue(ctx, repo, readId(id), number);
  await (removed === "" ? addReaction(ctx, subject, added) : removeReaction(ctx, subject, removed));
  return id === "" ? { anchor: `issue-${subject.issue.row.id}` } : { entryId: readId(id) };
};

/** An action on a file of the issue itself, or of a comment of it. */
const onFile =
  (change: (ctx: Ctx, file: AttachmentOfSubject, form: Form) => Promise<unknown>): Action =>
  async ({ ctx, repo, number, form }) => {
    const id = form.text("comment");
    const subject = id === "" ? { index: number } : { id: readId(id) };
    const file = await findAttachment(ctx, repo, subject, readId(form.text("file")));
    if (file.issue.row.number !== number) throw notFound();
    await change(ctx, file, form);
    return "id" in subject ? { entryId: subject.id } : { anchor: `issue-${file.issue.row.id}` };
  };

/** What the forms of a conversation do, by the name that they send as `action`. */
const ACTIONS = {
  comment,
  react,
  labels,
  "edit-comment": async ({ ctx, repo, number, form }) => {
    const id = readId(form.text("comment"));
    const found = await findCommentAndIssue(ctx, repo, id, number);
    const body = readMarkdown(form, "body", true);
    await editComment(ctx, found, body, Number(form.text("content_version")));
    return { entryId: id };
  },
  "rename-file": onFile((ctx, file, form) =>
    renameAttachment(ctx, file, form.line("name", ATTACHMENT_NAME_MAX)),
  ),
  "delete-file": onFile(deleteAttachment),
  "delete-comment": async ({ ctx, repo, number, form }) => {
    const found = await findCommentAndIssue(ctx, repo, readId(form.text("comment")), number);
    await deleteComment(ctx, found, toCommentDeletion);
  },
  title: edit((form) => {
    const title = form.line("title", LINE_CHARS_MAX);
    if (title === "") throw invalidField("title", "must not be empty");
    return { title, formerTitle: form.text(FORMER_TITLE) || undefined };
  }),
  "edit-body": edit((form) => ({
    body: readMarkdown(form, "body", false),
    contentVersion: Number(form.text("content_version")),
  })),
  assignees: edit((form) => ({
    assignees: readUsers(form, "user-", "other"),
  })),
  milestone: edit((form) => ({
    milestoneId: form.text("id") === "0" ? 0 : readId(form.text("id")),
  })),
  deadline: edit((form) => ({ deadlineAt: readDay("date", form.text("date")) })),
  estimate: edit((form) => ({ estimateSeconds: readDuration(form) })),
  subscribe: subscribe(true),
  unsubscribe: subscribe(false),
  lock: forAdministrators((ctx, issue, form) =>
    lockIssue(ctx, issue, true, form.line("reason", LINE_CHARS_MAX)),
  ),
  unlock: forAdministrators((ctx, issue) => lockIssue(ctx, issue, false)),
  pin: forAdministrators(pinIssue),
  unpin: forAdministrators(unpinIssue),
  delete: forAdministrators(async (ctx, issue) => {
    await deleteIssue(ctx, issue, await toIssueDeletion(ctx, issue));
    return { path: `${repositoryPath(issue.repo)}/${issue.row.isPull ? "pulls" : "issues"}` };
  }),
  "add-dependency": dependency(addDependency),
  "remove-dependency": dependency(removeDependency),
  "start-stopwatch": ({ ctx, repo, number, user }) => startStopwatch(ctx, repo, number, user),
  "stop-stopwatch": ({ ctx, repo, number, user }) => stopStopwatch(ctx, repo, number, user),
  "cancel-stopwatch": ({ ctx, repo, number, user }) => cancelStopwatch(ctx, repo, number, user),
  "add-time": async ({ ctx, repo, number, user, form }) => {
    const seconds = readDuration(form);
    if (seconds === 0) throw invalidField("duration", "must be a duration such as 1h 30m");
    await addTime(ctx, repo, number, user, { seconds, doneAt: null, userName: "" });
  },
  ...PULL_ACTIONS,
} as const satisfies Record<string, Action>;

export type IssueAction = keyof typeof ACTIONS;

/** The action that a form names; undefined for none. */
export const findAction = (name: string): Action | undefined =>
  Object.hasOwn(ACTIONS, name) ? ACTIONS[name as IssueAction] : undefined;
