import { type Context, Hono } from "hono";

import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import {
  listDependencies,
  listWaiting,
} from "../../../domain/issues/dependencies/list-dependencies.ts";
import { isIssueWritable, unitOf } from "../../../domain/issues/issue/find-issue.ts";
import {
  type Conversation,
  type ConversationEntry,
  openConversation,
} from "../../../domain/issues/timeline/open-conversation.ts";
import type { ReviewState } from "../../../db/schema/index.ts";
import { isLabelWriter } from "../../../domain/repos/labels/label-owner.ts";
import { listAssignees } from "../../../domain/repos/collaborators/list-collaborators.ts";
import { Failure, notFound } from "../../../lib/failure.ts";
import {
  type PullMergeState,
  readMergeState,
} from "../../../domain/pulls/merge/read-merge-state.ts";
import { listReviewStates } from "../../../domain/pulls/reviews/find-review.ts";
import {
  listPossibleReviewers,
  type PossibleReviewers,
} from "../../../domain/pulls/reviews/list-possible-reviewers.ts";
import {
  readConversations,
  type ReviewConversations,
} from "../../../domain/pulls/reviews/read-conversations.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { WebEnv } from "../../env.ts";
import { issuePath } from "../addresses.ts";
import type { Form } from "../form.ts";
import { UnshownRefusal } from "../keep-text.tsx";
import { Notice } from "../layout.tsx";
import { renderComments } from "../markup.ts";
import { type ListPage, Pager, readListPage } from "../pager.tsx";
import { ownPath, withRedirectTo } from "../redirect-to.ts";
import { enterPullPage, enterRepositoryPage, type EnteredRepository } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { act } from "./act.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import type { Done } from "./action.ts";
import { CommentBox, versionOf, type Written } from "./comment-box.tsx";
import { EventEntry } from "./entry.tsx";
import { IssueHead, mayChange, mayTakePart, type Refused } from "./issue-head.tsx";
import { ThreadButtons } from "./code-thread.tsx";
import { hasMergeForm, MergeBox } from "./merge-box.tsx";
import { PullTabs } from "./pull-tabs.tsx";
import { openReviewTalk, type ReviewTalk } from "./review-talk.tsx";
import { Reviewers } from "./reviewers.tsx";
import { Sidebar, type SidebarProps } from "./sidebar.tsx";
import { TEXT_PAGE, TextField } from "../text-field.tsx";

/** Entries of a timeline on one page. */
const ENTRIES_SIZE = 100;
/** Dependencies, and users to choose from, that the page offers. */
const SOME = { size: 100, offset: 0 };

/** The pages of an issue and of a pull request: what was said and done, and forms to take part. */
export const conversations = new Hono<WebEnv>();

const NUMBER = "number{[0-9]{1,15}}";

const KINDS = ["issues", "pulls"] as const;
type Kind = (typeof KINDS)[number];

for (const kind of KINDS) {
  const address = `/:owner/:repo/${kind}/:${NUMBER}`;
  conversations.get(address, async (c) => {
    const page = await enterRepositoryPage(c, { mode: "read" });
    const view = await readView(c, page, kind);
    const { issue } = view.conversation;
    if (issue.row.isPull !== (kind === "pulls")) return c.redirect(issuePath(issue), 303);
    return showConversation(c, page, view);
  });
  conversations.post(address, (c) =>
    act<EnteredRepository & { pull?: PullContext }>(c, {
      enter: () =>
        kind === "pulls"
          ? enterPullPage(c, ["write:issue"])
          : enterRepositoryPage(c, { mode: "read" }, ["write:issue"]),
      addressAfter: (done) => addressAfter(ownPath(c.req.url), done),
      showAgain: async (page, refused) =>
        showConversation(c, page, await readView(c, page, kind, refused.form), refused),
    }),
  );
}

/** Where an action leads: to what it made, or back to the page. */
function addressAfter(path: string, done: Done): string {
  if (done.path !== undefined) return done.path;
  if (done.entryId !== undefined) {
    return `${path}?entry=${done.entryId}#issuecomment-${done.entryId}`;
  }
  return done.anchor === undefined ? path : `${path}#${done.anchor}`;
}

const numberOf = (c: Context): number => Number(c.req.param("number"));

/** What the page shows. */
interface View extends Pick<SidebarProps, "conversation" | "dependencies" | "assignees"> {
  list: ListPage;
  /** Undefined for an issue. */
  mergeState: PullMergeState | undefined;
  code: ReviewConversations | undefined;
  reviews: readonly ReviewContext[];
  /** Whom the reader may ask for a review; undefined for a reader who asks nobody. */
  candidates: PossibleReviewers | undefined;
}

/**
 * Reads what the page shows, of the page of the timeline that the query names by `page`, or else
 * by an `entry` on it.
 *
 * Cost: one round trip of the database, of four calls for a writer; for a pull request as
 * `readMergeState`, at the same time.
 *
 * @param form A form that was refused, which may be about a comment of another page.
 */
async function readView(
  c: Context,
  page: EnteredRepository,
  kind: Kind,
  form?: Form,
): Promise<View> {
  const { ctx, repo } = page;
  const number = numberOf(c);
  const asked = readListPage(c, ENTRIES_SIZE);
  const named = c.req.query("page") === undefined ? c.req.query("entry") : undefined;
  const entry = form?.text("comment") || form?.text("replied") || (named ?? "");
  const entryId = /^[1-9]\d{0,14}$/.test(entry) ? Number(entry) : undefined;
  const { enableIssueDependencies: hasDependencies } = repo.row.issueSettings;
  const [conversation, blockers, waiting, assignees, mergeState, code, reviews, candidates] =
    await Promise.all([
      openConversation(ctx, repo, number, asked, entryId),
      hasDependencies ? listDependencies(ctx, repo, number, SOME) : undefined,
      hasDependencies ? listWaiting(ctx, repo, number, SOME) : undefined,
      isLabelWriter(repo) ? listAssignees(ctx, repo, SOME) : undefined,
      kind === "pulls" ? orNone(readMergeState(ctx, repo, number)) : undefined,
      kind === "pulls" ? readConversations(ctx, repo, number, asked, entryId) : undefined,
      kind === "pulls" ? listReviewStates(ctx, repo, number) : [],
      kind === "pulls" && ctx.actor.user ? listPossibleReviewers(ctx, repo) : undefined,
    ]);
  if (!isUnitOn(repo.row, unitOf(conversation.issue.row))) throw notFound();
  const { offset } = conversation;
  return {
    conversation,
    dependencies: blockers && waiting && { blockers: blockers.items, waiting: waiting.items },
    assignees: assignees?.items ?? [],
    mergeState,
    code,
    reviews,
    candidates,
    list: { size: ENTRIES_SIZE, offset, number: Math.floor(offset / ENTRIES_SIZE) + 1 },
  };
}

const UNSEEN: ReadonlySet<string> = new Set(["not_found", "forbidden"]);

/** What is found, or undefined where it is not, or not for the reader. */
const orNone = <T,>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof Failure && UNSEEN.has(error.kind)) return undefined;
    throw error;
  });

interface PartProps extends View {
  c: Context;
  page: EnteredRepository;
  sending: Sending;
  refused: Refused | undefined;
  /** Undefined for an issue. */
  talk: ReviewTalk | undefined;
}

/** Cost: one round trip of the database for the references of its texts. */
async function showConversation(
  c: Context<WebEnv>,
  page: EnteredRepository,
  view: View,
  refused?: Refused,
): Promise<Response> {
  const { conversation, list, mergeState } = view;
  const { issue, entries } = conversation;
  const { isPull, number, title } = issue.row;
  const sending = { path: issuePath(issue), formToken: page.formToken };
  const { texts, codeHtml } = await renderTexts(page, view);
  const talk =
    mergeState && view.code
      ? await openReviewTalk({
          page,
          pull: mergeState.pull,
          code: view.code,
          html: codeHtml,
          sending,
          opened: { reply: Number(c.req.query("reply")), edit: Number(c.req.query("edit")) },
          refused,
        })
      : undefined;
  const props: PartProps = { ...view, c, page, sending, refused, talk };
  const refusedMerge =
    refused?.form.text("action") === "merge" && mergeState && hasMergeForm(page, mergeState)
      ? refused
      : undefined;
  // Others than those who are signed in reload the page.
  const isFollowing = page.ctx.actor.user !== undefined;
  return renderRepository(
    c,
    page,
    {
      tab: isPull ? "pulls" : "issues",
      title: `#${number} - ${title}`,
      ...TEXT_PAGE,
      scripts: [...TEXT_PAGE.scripts, ...(isFollowing ? (["conversation.ts"] as const) : [])],
      status: refused?.refusal.status ?? 200,
    },
    <>
      <p
        class="hidden"
        role="status"
        data-version={isFollowing ? conversation.version : undefined}
        data-path={sending.path}
      />
      <div data-live="head">
        <IssueHead {...props} issue={issue} />
        {mergeState ? <PullTabs pull={mergeState.pull} current="conversation" /> : undefined}
      </div>
      <div class="split end">
        <div>
          {refusedMerge ? (
            <Notice kind="error">{refusedMerge.refusal.text}</Notice>
          ) : refused && !isShownByForm(props, texts) ? (
            <UnshownRefusal {...refused} />
          ) : undefined}
          {list.number > 1 ? (
            <Pager url={c.req.url} page={list} total={entries.total} />
          ) : undefined}
          <ol class="timeline">
            {texts.map((each) =>
              "html" in each ? (
                <Comment {...props} written={each} />
              ) : (
                <EventEntry entry={each.entry} now={page.ctx.now} />
              ),
            )}
          </ol>
          <div data-live="pages">
            <Pager url={c.req.url} page={list} total={entries.total} />
          </div>
          {mergeState ? (
            <div data-live="merge">
              <MergeBox
                page={page}
                state={mergeState}
                sending={sending}
                sent={refusedMerge?.form}
              />
            </div>
          ) : undefined}
          {talk ? <ThreadButtons sending={sending} /> : undefined}
          <NewComment {...props} texts={texts} />
        </div>
        <div data-live="side">
          <Sidebar
            page={page}
            {...view}
            reviewers={
              mergeState ? (
                <Reviewers
                  page={page}
                  pull={mergeState.pull}
                  reviews={view.reviews}
                  choices={issue.repo.row.archivedAt === null ? view.candidates : undefined}
                />
              ) : undefined
            }
          />
        </div>
      </div>
    </>,
  );
}

/**
 * The texts and the entries of a page, in their order; the issue's own text is on the first. With
 * them what reviews say about code.
 */
async function renderTexts(
  { ctx, repo }: EnteredRepository,
  { conversation, list, code }: View,
): Promise<{ texts: (Written | ConversationEntry)[]; codeHtml: readonly string[] }> {
  const { issue, entries, reactions } = conversation;
  const items = [
    ...(list.number === 1 ? [toWrittenIssue(issue, reactions)] : []),
    ...entries.items.map((each) => toWritten(each) ?? each),
  ];
  const bodies = items.flatMap((each) => ("body" in each ? [each.body] : []));
  const said = code?.comments.map(({ entry }) => entry.body) ?? [];
  const rendered = await renderComments(ctx, repo, [...bodies, ...said]);
  const html = rendered.values();
  return {
    texts: items.map((each) =>
      "body" in each ? Object.assign(each, { html: html.next().value ?? "" }) : each,
    ),
    codeHtml: rendered.slice(bodies.length),
  };
}

type Unrendered = Omit<Written, "html">;

const toWrittenIssue = (
  { row, poster, attachments }: IssueContext,
  reactions: Conversation["reactions"],
): Unrendered => ({
  id: `issue-${row.id}`,
  author: poster,
  originalAuthor: row.originalAuthor,
  createdAt: row.createdAt,
  verb: "wrote",
  body: row.body,
  contentVersion: row.contentVersion,
  attachments,
  reactions,
  commentId: undefined,
});

/** An entry with a text; undefined for one without. */
function toWritten(all: ConversationEntry): Unrendered | undefined {
  const { entry, attachments, reactions, review } = all;
  const { row, poster } = entry;
  if (row.kind !== "comment" && row.kind !== "review") return undefined;
  return {
    id: `issuecomment-${row.id}`,
    author: poster,
    originalAuthor: row.originalAuthor,
    createdAt: row.createdAt,
    verb: review === undefined ? "commented" : REVIEW_VERBS[review],
    body: row.body,
    contentVersion: row.contentVersion,
    attachments,
    reactions,
    commentId: row.kind === "comment" ? row.id : undefined,
    ...(row.kind === "review" && { review: all }),
  };
}

/** What a review says, by its state. */
const REVIEW_VERBS: Readonly<Record<ReviewState, string>> = {
  approved: "approved these changes",
  request_changes: "requested changes",
  comment: "reviewed",
  pending: "began a review",
  request_review: "was asked for a review",
};

function Comment({ written, ...props }: PartProps & { written: Written }) {
  const { c, page, conversation, sending, refused } = props;
  const { issue } = conversation;
  const isEditable = mayEdit(page, issue, written);
  const isRefused = refused !== undefined && isEditOf(refused.form, written);
  const isAsked = c.req.query("edit") === String(written.commentId ?? "body");
  return (
    <CommentBox
      repo={page.repo}
      hasFiles={page.ctx.config.areAttachmentsOn}
      written={written}
      now={page.ctx.now}
      sending={sending}
      isEditing={isEditable && (isRefused || isAsked)}
      mayEdit={isEditable}
      mayQuote={mayTakePart(page, issue)}
      mayReact={!written.review && mayTakePart(page, issue)}
      below={written.review && props.talk?.below(written.review)}
      version={
        versionOf(written) + (written.review ? (props.talk?.versionOf(written.review) ?? "") : "")
      }
      refused={isRefused ? refused : undefined}
    />
  );
}

/** Whether a form of the page shows what was refused, and why. */
function isShownByForm({ page, conversation: { issue }, refused, talk }: PartProps, texts: Texts) {
  if (!refused) return false;
  switch (refused.form.text("action")) {
    case "title":
      return mayChange(page, issue);
    case "edit-body":
    case "edit-comment":
      return (
        (talk?.isRefusalShown ?? false) ||
        texts.some(
          (each) => "html" in each && isEditOf(refused.form, each) && mayEdit(page, issue, each),
        )
      );
    case "comment":
    case "review":
    case "code-comment":
      return mayTakePart(page, issue);
    default:
      return false;
  }
}

/** Whether the reader may change a text; those of reviews stay. */
function mayEdit(page: EnteredRepository, issue: IssueContext, written: Written): boolean {
  const { commentId, author, review } = written;
  const { user } = page.ctx.actor;
  if (review || !user) return false;
  return commentId === undefined
    ? mayChange(page, issue)
    : issue.repo.row.archivedAt === null && (author?.id === user.id || isIssueWritable(issue));
}

/** Whether a form edits a comment, or the issue's own text. */
const isEditOf = (form: Form, { commentId }: Written): boolean =>
  commentId === undefined
    ? form.text("action") === "edit-body"
    : form.text("action") === "edit-comment" && form.text("comment") === String(commentId);

type Texts = readonly (Written | ConversationEntry)[];

interface NewCommentProps extends PartProps {
  /** The texts of the page, of which the address may quote one. */
  texts: Texts;
}

function NewComment({ c, page, conversation, sending, refused, talk, texts }: NewCommentProps) {
  const { issue } = conversation;
  const { row, repo, pull } = issue;
  if (!page.ctx.actor.user) {
    return (
      <p id="new-comment">
        <a href={withRedirectTo("/user/login", sending.path)}>Sign in</a> to comment.
      </p>
    );
  }
  // What is written beside the files may be sent as a comment here.
  const isRefused =
    ["comment", "review", "code-comment"].includes(refused?.form.text("action") ?? "") &&
    !talk?.isRefusalShown;
  const isArchived = repo.row.archivedAt !== null;
  if (isArchived || !mayTakePart(page, issue)) {
    return (
      <p id="new-comment">
        {isArchived
          ? "This repository is archived."
          : "This conversation is locked: only those who may write comment."}
      </p>
    );
  }
  const mayClose = mayChange(page, issue) && !(pull && pull.mergedAt !== null);
  return (
    <ActionForm {...sending} action="comment" class="card">
      <input type="hidden" name="opened_at" value={page.ctx.now} />
      <div id="new-comment">
        <TextField
          repo={repo}
          label="Comment"
          name="body"
          value={refused && isRefused ? refused.form.text("body") : firstText(c, texts)}
          fault={refused && isRefused ? refused.refusal.fault : undefined}
          hasFiles={page.ctx.config.areAttachmentsOn}
        />
      </div>
      <div class="row">
        <button type="submit" class="primary">
          Comment
        </button>
        {mayClose ? (
          <button type="submit" name="state" value={row.isClosed ? "reopen" : "close"}>
            {row.isClosed ? "Reopen" : "Close"}
          </button>
        ) : undefined}
      </div>
    </ActionForm>
  );
}

/** Characters of a text that an address gives for a comment. */
const GIVEN_CHARS_MAX = 4096;

/** The text with which a comment begins: one that it quotes, or as the address gives it. */
function firstText(c: Context, texts: NewCommentProps["texts"]): string {
  const id = c.req.query("quote");
  const quoted = texts.find((each): each is Written => "html" in each && each.id === id);
  if (!quoted) return (c.req.query("body") ?? "").slice(0, GIVEN_CHARS_MAX);
  const lines = quoted.body.trim().split(/\r?\n/);
  return `${lines.map((line) => `> ${line}\n`).join("")}\n`;
}
