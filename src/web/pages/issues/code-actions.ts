import { toCommentDeletion } from "../../../domain/exchange/webhooks/dispatch/deletion-payload.ts";
import { deleteComment } from "../../../domain/issues/comments/delete-comment.ts";
import { findCommentAndIssue } from "../../../domain/issues/comments/find-comment.ts";
import {
  applyCodeSuggestion,
  applyCodeSuggestions,
  SUGGESTIONS_MAX,
} from "../../../domain/pulls/code-review/apply-suggestion.ts";
import { finishReview } from "../../../domain/pulls/code-review/finish-review.ts";
import { createReviewOnce } from "../../../domain/pulls/code-review/submit-review.ts";
import { deleteReview } from "../../../domain/pulls/reviews/delete-review.ts";
import {
  findCodeComment,
  findCodeComments,
} from "../../../domain/pulls/reviews/find-code-comments.ts";
import { findPendingReview } from "../../../domain/pulls/reviews/find-review.ts";
import { markConversation } from "../../../domain/pulls/reviews/resolve-conversation.ts";
import { viewFile } from "../../../domain/pulls/reviews/view-file.ts";
import { isOid, type Oid } from "../../../git/oid.ts";
import { conflict, invalid, invalidField, notFound } from "../../../lib/failure.ts";
import { issuePath } from "../addresses.ts";
import type { Form } from "../form.ts";
import { readId } from "../read-id.ts";
import { readMarkdown } from "../read-markdown.ts";
import { placeOfFile } from "../repository/diff.tsx";
import { TITLE_CHARS_MAX } from "../text-field.tsx";
import type { Action, Done } from "./action.ts";
import { onPull } from "./on-pull.ts";
import { SUGGESTION } from "./suggestion.ts";

const PATH_CHARS_MAX = 4096;

/** The number of a line; 0 for none. */
function readLine(form: Form, name: string): number {
  const text = form.text(name);
  if (!/^\d{1,9}$/.test(text)) throw invalidField(name, "must be the number of a line");
  return Number(text);
}

/** The time at which the page of a form was made. */
function readSince(form: Form): number {
  const since = Number(form.text("opened_at"));
  if (!Number.isSafeInteger(since)) throw invalidField("opened_at", "must be a time");
  return since;
}

const comment = onPull(async (pull, { ctx, form }) => {
  const repliedId = form.text("replied") === "0" ? 0 : readId(form.text("replied"));
  const path = form.text("path");
  const line = readLine(form, "line");
  const isOldSide = form.text("side") === "L";
  if (repliedId === 0) requirePlace(form, path);
  // Lines are counted in the head that the reader has seen.
  if (line > 0 && form.text("head") !== pull.pull.headOid) {
    throw conflict("the head has changed since: see whether the line is still the one you mean");
  }
  const isNow = form.text("when") === "now";
  await createReviewOnce(ctx, pull, {
    event: isNow ? "COMMENT" : "PENDING",
    state: isNow ? "comment" : "pending",
    body: "",
    comments: [
      {
        path,
        body: readMarkdown(form, "body", true),
        newLine: isOldSide ? 0 : line,
        oldLine: isOldSide ? line : 0,
        startLine: line === 0 ? 0 : readLine(form, "start_line"),
        repliedId,
      },
    ],
    since: readSince(form),
    isAlone: isNow,
  });
  if (repliedId !== 0) return { entryId: repliedId };
  const place = await placeOfFile(path);
  return { anchor: line === 0 ? place : `${place}${isOldSide ? "L" : "R"}${line}` };
});

function requirePlace(form: Form, path: string): void {
  if (path === "" || path.length > PATH_CHARS_MAX) throw invalidField("path", "must be a file");
  if (!["L", "R"].includes(form.text("side"))) throw invalidField("side", "must be L or R");
}

/** What the buttons of a conversation do to one of its comments. */
const BUTTONS: Readonly<Record<string, (id: number) => Action>> = {
  resolve: (id) => mark(id, true),
  reopen: (id) => mark(id, false),
  apply: (id) =>
    onPull(async (pull, { ctx, repo, number, user }) => {
      await applyCodeSuggestion(ctx, pull, await findCodeComment(ctx, repo, number, id), user);
    }),
  delete:
    (id) =>
    async ({ ctx, repo, number }) => {
      const found = await findCommentAndIssue(ctx, repo, id, number);
      await deleteComment(ctx, found, toCommentDeletion);
    },
};

const mark = (id: number, isResolved: boolean): Action =>
  onPull(async (pull, { ctx, repo, number }) => {
    await markConversation(ctx, pull, await findCodeComment(ctx, repo, number, id), isResolved);
    return { entryId: id };
  });

/** @throws Failure `invalid` for more than make a commit. */
function readSuggestionIds(form: Form): number[] {
  const names = form.namesWith(SUGGESTION);
  // Before they are looked up; the verb refuses the same.
  if (names.length > SUGGESTIONS_MAX) {
    throw invalid(`at most ${SUGGESTIONS_MAX} suggestions make a commit`);
  }
  return names.map((name) => readId(name.slice(SUGGESTION.length)));
}

const applyAll = onPull(async (pull, { ctx, repo, number, user, form }) => {
  const comments = await findCodeComments(ctx, repo, number, readSuggestionIds(form));
  await applyCodeSuggestions(ctx, pull, comments, user, form.line("message", TITLE_CHARS_MAX));
});

const press: Action = async (sent) => {
  const [name, button] = Object.entries(BUTTONS).find(([each]) => sent.form.isSet(each)) ?? [];
  if (name === undefined || !button) throw notFound();
  return button(readId(sent.form.text(name)))(sent);
};

const REVIEW_STATES = ["comment", "approved", "request_changes"] as const;

/** The head that a reader has seen; undefined for the present one, as in the API. */
function readHead(form: Form): Oid | undefined {
  const head = form.text("head");
  if (head === "") return undefined;
  if (!isOid(head)) throw invalidField("head", "must be the id of a commit");
  return head;
}

const review = onPull(async (pull, { ctx, form }): Promise<Done> => {
  const state = REVIEW_STATES.find((each) => each === form.text("state"));
  if (!state) throw invalidField("state", "must be one of the choices");
  const sent = await finishReview(ctx, pull, {
    event: state.toUpperCase(),
    state,
    body: readMarkdown(form, "body", state === "request_changes"),
    commitOid: readHead(form),
    since: readSince(form),
  });
  const path = issuePath(pull);
  const id = sent.entryId;
  return { path: id === undefined ? path : `${path}?entry=${id}#issuecomment-${id}` };
});

/** What the forms of reviews do, by the name that they send as `action`. */
export const CODE_ACTIONS = {
  "code-comment": comment,
  code: press,
  review,
  "apply-suggestions": applyAll,
  "discard-review": onPull(async (pull, { ctx }) => {
    const pending = await findPendingReview(ctx, pull);
    if (pending) await deleteReview(ctx, pull, pending);
  }),
  "view-file": onPull(async (pull, { ctx, user, form }) => {
    const isViewed = form.isSet("view");
    const [, oid = "", path = ""] =
      /^(\S*) (.*)$/s.exec(form.text(isViewed ? "view" : "unview")) ?? [];
    await viewFile(ctx, pull, user, { path, oid }, isViewed);
    return { anchor: await placeOfFile(path) };
  }),
} as const satisfies Record<string, Action>;
