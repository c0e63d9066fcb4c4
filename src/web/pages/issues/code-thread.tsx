import type { Child } from "hono/jsx";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isIssueWritable } from "../../../domain/issues/issue/find-issue.ts";
import type { ReactionCount } from "../../../domain/issues/reactions/count-reactions.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { accountPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
import { Field } from "../layout.tsx";
import { Count } from "../count.tsx";
import type { EnteredRepository } from "../repository/enter.ts";
import { TITLE_CHARS_MAX } from "../text-field.tsx";
import { UserText } from "../user-text.tsx";
import { ActionForm, type Sending } from "./action-form.tsx";
import { CodeForm, type CodePlace } from "./code-form.tsx";
import { Files } from "./comment-box.tsx";
import { EditForm } from "./edit-form.tsx";
import { mayTakePart, type Refused } from "./issue-head.tsx";
import { Reactions } from "./reactions.tsx";
import { type ShownComment, SUGGESTION } from "./suggestion.ts";

/** A conversation about code. */
export interface Thread {
  readonly root: CodeCommentContext;
  /** The root and the answers to it, oldest first. */
  readonly comments: readonly CodeCommentContext[];
}

/** Comments, oldest first, as conversations. */
export function groupThreads(comments: readonly CodeCommentContext[]): Thread[] {
  const groups = Map.groupBy(comments, ({ code }) => code.rootId ?? code.entryId);
  return [...groups.values()].flatMap(([root, ...answers]) =>
    root ? [{ root, comments: [root, ...answers] }] : [],
  );
}

/** The lines that a conversation is about. */
export const toPlace = ({ root: { code } }: Thread): CodePlace => ({
  path: code.path,
  side: code.isOldSide ? "L" : "R",
  line: code.line,
  startLine: code.startLine,
});

/** A form that stands in a conversation. */
export type ThreadForm = "reply" | "edit";

/** A page that shows conversations about code. */
export interface ThreadPage {
  readonly page: EnteredRepository;
  readonly pull: PullContext;
  readonly sending: Sending;
  /** The comments as HTML, by their ids. */
  readonly shown: ReadonlyMap<number, ShownComment>;
  readonly reactions: ReadonlyMap<number | null, readonly ReactionCount[]>;
  /** Whether the reader has begun a review. */
  readonly hasPending: boolean;
  /** Whether the page has a `SuggestionsForm`. */
  readonly hasApplyForm: boolean;
  /** The form that the address asks for, by the id of its comment. */
  readonly opened: Readonly<Partial<Record<ThreadForm, number>>>;
  readonly refused: Refused | undefined;
  /** The address of the page with a form at a comment, or with none. */
  readonly hrefOf: (commentId: number, form?: ThreadForm) => string;
}

/** The form to which these boxes belong. */
const APPLY_ID = "apply-suggestions";

/** The form that applies the chosen suggestions of a page as one commit. */
export function SuggestionsForm({ sending }: { sending: Sending }) {
  return (
    <ActionForm {...sending} action="apply-suggestions" id={APPLY_ID} class="card">
      <h2>Suggestions</h2>
      <Field
        label="Message of the commit, if you like"
        name="message"
        id="apply-message"
        isOptional
        maxlength={TITLE_CHARS_MAX}
      />
      <button type="submit">Apply the chosen suggestions as one commit</button>
    </ActionForm>
  );
}

/** Whether the reader may commit to the head, as far as the page knows. */
export const mayApply = ({ headRepo, headTip, pull, row, repo }: PullContext): boolean =>
  !row.isClosed &&
  headRepo !== undefined &&
  headRepo.row.archivedAt === null &&
  headTip !== undefined &&
  (isAllowed(headRepo, WRITE_CODE) || (pull.allowMaintainerEdit && isAllowed(repo, WRITE_CODE)));

const WRITE_CODE = { unit: "code", mode: "write" } as const;

/** Whether the page shows what a comment suggests for the head. */
export const isApplicable = (
  { entry, code, review }: CodeCommentContext,
  shown: ThreadPage["shown"],
): boolean =>
  review.state !== "pending" && !code.isOutdated && shown.get(entry.id)?.isSuggestion === true;

/** The form to which the buttons of conversations belong. */
const BUTTONS_ID = "code-buttons";

/** The form of a page's conversations whose buttons name what they do to a comment. */
export const ThreadButtons = ({ sending }: { sending: Sending }) => (
  <ActionForm {...sending} action="code" id={BUTTONS_ID} />
);

interface ThreadButtonProps {
  name: "resolve" | "reopen" | "delete" | "apply";
  commentId: number;
  label: string;
  class?: string;
}

const ThreadButton = ({ name, commentId, label, ...attributes }: ThreadButtonProps) => (
  <button type="submit" form={BUTTONS_ID} name={name} value={commentId} {...attributes}>
    {label}
  </button>
);

interface CodeThreadProps {
  thread: Thread;
  /** What stands above the first comment. */
  head: Child;
  /** The id of the first comment of the next conversation. */
  nextId: number | undefined;
  on: ThreadPage;
}

/** A conversation about code, with what the reader may do; a resolved one is folded. */
export function CodeThread(props: CodeThreadProps) {
  const { thread, head } = props;
  const { root, comments } = thread;
  const id = `code-comments-${root.entry.id}`;
  const count = `${comments.length} comment${comments.length === 1 ? "" : "s"}`;
  if (root.code.resolvedAt === null) {
    return (
      <div
        role="group"
        class="thread"
        id={id}
        aria-label={`Conversation with ${count}`}
        data-thread
      >
        {head}
        <ThreadBody {...props} />
      </div>
    );
  }
  return (
    <div
      role="group"
      class="thread"
      id={id}
      aria-label={`Resolved conversation with ${count}`}
      data-thread
    >
      <details open={isOpened(props)}>
        <summary class="soft">
          {`Resolved by ${root.resolver?.name ?? "Ghost"}: ${count} by `}
          {[...new Set(comments.map(({ poster }) => poster?.name ?? "Ghost"))].join(", ")}
        </summary>
        {head}
        <ThreadBody {...props} />
      </details>
    </div>
  );
}

/** Whether a form stands in a conversation. */
const isOpened = ({ thread, on }: CodeThreadProps): boolean =>
  isReplying(thread, on) || thread.comments.some((comment) => isEditing(comment, on));

const isReplying = ({ root }: Thread, { opened, refused }: ThreadPage): boolean =>
  refused?.form.text("action") === "code-comment"
    ? refused.form.text("replied") === String(root.entry.id)
    : opened.reply === root.entry.id;

const isEditing = ({ entry }: CodeCommentContext, { opened, refused }: ThreadPage): boolean =>
  refused?.form.text("action") === "edit-comment"
    ? refused.form.text("comment") === String(entry.id)
    : opened.edit === entry.id;

/** Whether a refused answer or edit is shown in one of these conversations. */
export function isRefusalShown(threads: readonly Thread[], on: ThreadPage): boolean {
  const action = on.refused?.form.text("action");
  if (action === "code-comment") {
    return mayTakePart(on.page, on.pull) && threads.some((thread) => isReplying(thread, on));
  }
  const comments = threads.flatMap((thread) => thread.comments);
  return (
    action === "edit-comment" &&
    comments.some((comment) => isEditing(comment, on) && mayEdit(comment, on))
  );
}

const mayEdit = ({ poster }: CodeCommentContext, { page, pull }: ThreadPage): boolean => {
  const { user } = page.ctx.actor;
  return (
    user !== undefined &&
    pull.repo.row.archivedAt === null &&
    (poster?.id === user.id || isIssueWritable(pull))
  );
};

function ThreadBody({ thread, nextId, on }: CodeThreadProps) {
  const { root, comments } = thread;
  const { page, pull, sending, hasPending, refused, hrefOf } = on;
  const { user } = page.ctx.actor;
  const mayAnswer = mayTakePart(page, pull);
  const isOwn = user !== undefined && [pull.row.posterId, root.entry.posterId].includes(user.id);
  const mayResolve =
    mayAnswer && root.review.state !== "pending" && (isOwn || isIssueWritable(pull));
  const isResolved = root.code.resolvedAt !== null;
  const isAnswering = mayAnswer && isReplying(thread, on);
  const isRefused = refused?.form.text("action") === "code-comment";
  return (
    <>
      {comments.map((comment) => (
        <CodeComment comment={comment} on={on} />
      ))}
      {isAnswering ? (
        <CodeForm
          repo={page.repo}
          hasFiles={page.ctx.config.areAttachmentsOn}
          sending={sending}
          now={page.ctx.now}
          place={undefined}
          repliedId={root.entry.id}
          headOid={pull.pull.headOid}
          hasPending={hasPending}
          body={isRefused ? refused.form.text("body") : ""}
          fault={isRefused ? refused.refusal.fault : undefined}
          cancelHref={hrefOf(root.entry.id)}
        />
      ) : undefined}
      <div class="row thread-foot">
        {mayAnswer && !isAnswering ? (
          <a class="button small" href={hrefOf(root.entry.id, "reply")} data-reply={root.entry.id}>
            Answer
          </a>
        ) : undefined}
        {mayResolve ? (
          <ThreadButton
            name={isResolved ? "reopen" : "resolve"}
            commentId={root.entry.id}
            label={isResolved ? "Reopen" : "Resolve"}
            class="small"
          />
        ) : undefined}
        {nextId === undefined ? undefined : (
          <a class="soft" href={`#issuecomment-${nextId}`}>
            Next conversation
          </a>
        )}
      </div>
    </>
  );
}

function CodeComment({ comment, on }: { comment: CodeCommentContext; on: ThreadPage }) {
  const { entry, review, poster } = comment;
  const { page, pull, sending, refused, hrefOf } = on;
  const { user } = page.ctx.actor;
  const id = `issuecomment-${entry.id}`;
  const isEditable = mayEdit(comment, on);
  const isEdited = isEditable && isEditing(comment, on);
  const mayReact = review.state !== "pending" && mayTakePart(page, pull);
  const isRefused = refused?.form.text("action") === "edit-comment";
  const author = entry.originalAuthor || (poster?.name ?? "Ghost");
  return (
    <article class="thread-comment" id={id} aria-label={`Comment of ${author}`}>
      <header class="row">
        {poster && entry.originalAuthor === "" ? (
          <>
            <Avatar account={poster} size={24} />
            <a href={accountPath(poster)}>
              <strong>{author}</strong>
            </a>
          </>
        ) : (
          author
        )}
        <a class="soft grow" href={`#${id}`}>
          <Ago at={entry.createdAt} now={page.ctx.now} />
        </a>
        {review.state === "pending" ? <span class="label">Pending</span> : undefined}
        {isEditable ? (
          <>
            <a href={hrefOf(entry.id, "edit")}>
              Edit<span class="hidden">{` the comment of ${author}`}</span>
            </a>
            <details class="menu end">
              <summary>Delete</summary>
              <div class="menu-body">
                <p>The comment is gone for good.</p>
                <ThreadButton
                  name="delete"
                  commentId={entry.id}
                  label="Delete comment"
                  class="danger"
                />
              </div>
            </details>
          </>
        ) : undefined}
      </header>
      {isEdited ? (
        <EditForm
          repo={page.repo}
          hasFiles={page.ctx.config.areAttachmentsOn}
          id={id}
          body={entry.body}
          contentVersion={entry.contentVersion}
          commentId={entry.id}
          sending={sending}
          cancelHref={hrefOf(entry.id)}
          refused={isRefused ? refused : undefined}
        />
      ) : (
        <UserText html={on.shown.get(entry.id)?.html ?? ""} />
      )}
      <Files
        attachments={comment.attachments}
        commentId={entry.id}
        sending={sending}
        isEditing={isEdited}
      />
      {user !== undefined && mayApply(pull) && isApplicable(comment, on.shown) ? (
        <div class="row">
          <ThreadButton name="apply" commentId={entry.id} label="Apply suggestion" class="small" />
          {on.hasApplyForm ? (
            <label class="check">
              <input type="checkbox" name={`${SUGGESTION}${entry.id}`} value="on" form={APPLY_ID} />
              <span>Select to apply with others</span>
            </label>
          ) : undefined}
        </div>
      ) : undefined}
      <Reactions
        reactions={on.reactions.get(entry.id) ?? []}
        sending={mayReact ? sending : undefined}
        commentId={entry.id}
      />
    </article>
  );
}

/** How many comments a file has, beside its name. */
export function CommentCount({ of: count }: { of: number }) {
  if (count === 0) return <></>;
  return (
    <span class="label">
      <Count of={count} />
      <span class="hidden">{` comment${count === 1 ? "" : "s"}`}</span>
    </span>
  );
}
