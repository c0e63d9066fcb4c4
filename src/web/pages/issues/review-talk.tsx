import type { Child } from "hono/jsx";

import type { ConversationEntry } from "../../../domain/issues/timeline/open-conversation.ts";
import type { ReviewConversations } from "../../../domain/pulls/reviews/read-conversations.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { issuePath } from "../addresses.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { placeOfFile } from "../repository/diff.tsx";
import type { Sending } from "./action-form.tsx";
import { versionOf } from "./comment-box.tsx";
import { namePlace } from "./code-form.tsx";
import {
  CodeThread,
  groupThreads,
  isRefusalShown,
  type Thread,
  type ThreadPage,
  toPlace,
} from "./code-thread.tsx";
import type { Refused } from "./issue-head.tsx";
import { showSuggestions } from "./suggestion.ts";

interface ReviewTalkProps {
  page: EnteredRepository;
  pull: PullContext;
  code: ReviewConversations;
  /** The comments as HTML, in their order. */
  html: readonly string[];
  sending: Sending;
  opened: ThreadPage["opened"];
  refused: Refused | undefined;
}

/** Conversations about code as a timeline shows them: below the reviews that began them. */
export interface ReviewTalk {
  /** What stands below the text of a review; undefined for one without comments on code. */
  readonly below: (entry: ConversationEntry) => Child;
  /** What tells it from another state of the same; as of `CommentBox`. */
  readonly versionOf: (entry: ConversationEntry) => string;
  /** Whether a refused form is shown in one of the conversations. */
  readonly isRefusalShown: boolean;
}

export async function openReviewTalk(props: ReviewTalkProps): Promise<ReviewTalk> {
  const { page, pull, code, html, sending, opened, refused } = props;
  const { comments } = code;
  const paths = [...new Set(comments.map((each) => each.code.path))];
  const places = new Map(
    await Promise.all(paths.map(async (path) => [path, await placeOfFile(path)] as const)),
  );
  const on: ThreadPage = {
    page,
    pull,
    sending,
    shown: await showSuggestions(page.ctx, comments, html),
    reactions: code.reactions,
    hasPending: code.hasPending,
    hasApplyForm: false,
    opened,
    refused,
    hrefOf: (id, form) => {
      const query = { entry: String(id), ...(form && { [form]: String(id) }) };
      return `${sending.path}?${new URLSearchParams(query).toString()}#issuecomment-${id}`;
    },
  };
  const threads = groupThreads(comments);
  const begun = Map.groupBy(
    threads.filter(({ root }) => root.code.rootId === null),
    ({ root }) => root.review.id,
  );
  const answers = Map.groupBy(
    comments.filter((each) => each.code.rootId !== null),
    ({ review }) => review.id,
  );
  const versionOfComment = ({ entry, code: place, attachments }: CodeCommentContext): string => {
    const text = { ...entry, attachments, reactions: code.reactions.get(entry.id) ?? [] };
    return `${entry.id} ${place.resolvedAt} ${place.isOutdated} ${versionOf(text)}`;
  };
  const nextOf = new Map(
    threads.map((thread, at) => [thread, threads[at + 1]?.root.entry.id] as const),
  );
  return {
    isRefusalShown: isRefusalShown([...begun.values()].flat(), on),
    versionOf: ({ entry }) =>
      (begun.get(entry.row.reviewId ?? 0) ?? [])
        .flatMap((thread) => thread.comments.map(versionOfComment))
        .join(";"),
    below: ({ entry }) => {
      const own = begun.get(entry.row.reviewId ?? 0) ?? [];
      const said = (answers.get(entry.row.reviewId ?? 0) ?? []).filter(
        (answer) => !own.some(({ comments: all }) => all.includes(answer)),
      );
      if (own.length === 0 && said.length === 0) return undefined;
      return (
        <div class="threads">
          {own.map((thread) => (
            <CodeThread
              thread={thread}
              head={<ThreadHead pull={pull} thread={thread} places={places} />}
              nextId={nextOf.get(thread)}
              on={on}
            />
          ))}
          {said.map((answer) => (
            <p class="inside soft">
              {"Answered in "}
              <a href={on.hrefOf(answer.entry.id)}>{`a conversation about ${answer.code.path}`}</a>
            </p>
          ))}
        </div>
      );
    },
  };
}

interface ThreadHeadProps {
  pull: PullContext;
  thread: Thread;
  /** The names of the files' places, by their paths. */
  places: ReadonlyMap<string, string>;
}

/** The file and the lines of a conversation, with the part of the diff that it is about. */
function ThreadHead({ pull, thread, places }: ThreadHeadProps) {
  const { code } = thread.root;
  const place = toPlace(thread);
  const words = namePlace(place);
  const query = new URLSearchParams({ "skip-to": code.path }).toString();
  const line = place.line === 0 ? "" : `${place.side}${place.line}`;
  return (
    <>
      <p class="row">
        {code.isOutdated ? (
          <strong>{code.path}</strong>
        ) : (
          <a href={`${issuePath(pull)}/files?${query}#${places.get(code.path) ?? ""}${line}`}>
            <strong>{code.path}</strong>
          </a>
        )}
        <span class="soft">{words}</span>
        {code.isOutdated ? <span class="label">Outdated</span> : undefined}
      </p>
      <DiffHunk hunk={code.diffHunk} />
    </>
  );
}

/** A part of a diff, as it was when somebody wrote about it. */
function DiffHunk({ hunk }: { hunk: CodeCommentContext["code"]["diffHunk"] }) {
  const [, ...lines] = hunk.split("\n");
  if (lines.length === 0) return <></>;
  return (
    <pre class="hunk-text">
      {lines.map((line) => (
        <span class={LINE_KINDS[line.charAt(0)]}>{`${line}\n`}</span>
      ))}
    </pre>
  );
}

const LINE_KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed" };
