import type { Context } from "hono";
import { raw } from "hono/html";
import type { Child } from "hono/jsx";

import type { ChangedPath, FileDiff } from "../../../domain/code/commits/list-file-diffs.ts";
import type { CodeReview } from "../../../domain/pulls/reviews/read-code-review.ts";
import type { WebEnv } from "../../env.ts";
import { renderComments } from "../markup.ts";
import { type DiffNotes, placeOfFile, type ShownDiff } from "../repository/diff.tsx";
import type { LineSide, LineNotes } from "../repository/diff-rows.ts";
import type { DiffView } from "../repository/diff-view.ts";
import type { EnteredPull } from "../repository/enter.ts";
import type { Sending } from "./action-form.tsx";
import {
  type AskedForm,
  findAskedForm,
  type PlacedFile,
  toCommentParameter,
} from "./asked-place.ts";
import { CodeForm, type CodePlace, namePlace } from "./code-form.tsx";
import {
  CodeThread,
  CommentCount,
  groupThreads,
  isApplicable,
  isRefusalShown,
  mayApply,
  type ThreadForm,
  type ThreadPage,
  toPlace,
} from "./code-thread.tsx";
import { mayTakePart, type Refused } from "./issue-head.tsx";
import { countComments, mayReview, REVIEW_ID } from "./review-form.tsx";
import { showSuggestions } from "./suggestion.ts";

/** The form to which the buttons belong that mark files as viewed. */
export const VIEWED_ID = "viewed-files";

/** The parameters that open a form, without their values. */
export const NO_FORM = {
  comment: undefined,
  suggest: undefined,
  reply: undefined,
  edit: undefined,
};

/** What stands at the lines of a file. */
class FileNotes implements LineNotes {
  readonly hrefOf: LineNotes["hrefOf"];
  readonly #html = new Map<string, string>();
  readonly #placed = new Set<string>();

  constructor(hrefOf: LineNotes["hrefOf"]) {
    this.hrefOf = hrefOf;
  }

  add({ side, line }: Pick<CodePlace, "side" | "line">, html: string): void {
    const key = side + line;
    this.#html.set(key, (this.#html.get(key) ?? "") + html);
  }

  below(side: LineSide, line: number): string {
    const key = side + line;
    this.#placed.add(key);
    return this.#html.get(key) ?? "";
  }

  /** What is about the file as a whole, or about lines that were not shown until now. */
  get rest(): string {
    return Array.from(this.#html, ([key, html]) => (this.#placed.has(key) ? "" : html)).join("");
  }
}

/** What was said about the files of a page, and the form for more. */
export interface FileTalk {
  readonly notesAt: (id: string) => LineNotes;
  readonly notes: DiffNotes;
  /** A form whose file is not on the page. */
  readonly elsewhere: Child;
  /** Whether the page needs a `SuggestionsForm`. */
  readonly hasApplyForm: boolean;
  /** Whether a form says itself why it was refused. */
  readonly isRefusalShown: boolean;
}

interface FileTalkProps {
  sending: Sending;
  review: CodeReview;
  /** All files that differ, and those of the page. */
  changes: readonly ChangedPath[];
  items: readonly FileDiff[];
  /** Who owns which of these, as `CODEOWNERS` names them. */
  owners: ReadonlyMap<string, readonly string[]>;
  view: DiffView;
  refused: Refused | undefined;
}

/**
 * Puts comments beside the lines of files, and the form that the address asks for or that was
 * refused.
 *
 * Cost: one round trip of the database, if a comment has references.
 */
export async function openFileTalk(
  c: Context<WebEnv>,
  page: EnteredPull,
  props: FileTalkProps,
): Promise<FileTalk> {
  const { review, items, view, refused } = props;
  const on = await openThreads(c, page, props);
  const files = await Promise.all(
    items.map(async (file) => ({ file, id: await placeOfFile(file.path) })),
  );
  const mayComment = mayTakePart(page, page.pull);
  const notes = new Map(
    files.map(({ id }) => [id, new FileNotes(mayComment ? toHrefs(view, id) : undefined)]),
  );
  await addThreads(on, files, notes, review);
  const asked = mayComment ? findAskedForm(c, files, refused) : undefined;
  const form = asked && (await toHtml(<OpenForm on={on} view={view} asked={asked} />));
  const home = notes.get(asked?.id ?? "");
  if (asked && form !== undefined) home?.add(asked.place, form);
  return {
    notesAt: (id) => notes.get(id) ?? new FileNotes(undefined),
    notes: toDiffNotes(page, props, notes, mayComment, asked),
    elsewhere: form === undefined || home ? undefined : raw(form),
    hasApplyForm: on.hasApplyForm,
    isRefusalShown:
      asked?.fault !== undefined ||
      (refused?.form.text("action") === "review" && mayReview(page, page.pull, review.pending)) ||
      isRefusalShown(groupThreads(review.comments), on),
  };
}

async function openThreads(
  c: Context<WebEnv>,
  page: EnteredPull,
  { sending, review, view, refused }: FileTalkProps,
): Promise<ThreadPage> {
  const { ctx, repo, pull } = page;
  const bodies = review.comments.map(({ entry }) => entry.body);
  const texts = bodies.length === 0 ? [] : await renderComments(ctx, repo, bodies);
  const shown = await showSuggestions(ctx, review.comments, texts);
  return {
    page,
    pull,
    sending,
    shown,
    reactions: review.reactions,
    hasPending: review.pending !== undefined,
    hasApplyForm: mayApply(pull) && review.comments.some((each) => isApplicable(each, shown)),
    opened: { reply: Number(c.req.query("reply")), edit: Number(c.req.query("edit")) },
    refused,
    hrefOf: (id, form?: ThreadForm) => {
      const opened = form === undefined ? {} : { [form]: String(id) };
      return view.hrefWith({ ...NO_FORM, ...opened }, `issuecomment-${id}`);
    },
  };
}

/** The addresses of the forms for comments on the lines of a file. */
function toHrefs(view: DiffView, id: string): NonNullable<LineNotes["hrefOf"]> {
  const beginning = toCommentHref(view, id);
  return (side, line) => beginning + side + String(line);
}

function toCommentHref(view: DiffView, id: string): string {
  const others = view.hrefWith(NO_FORM);
  return `${others}${others === "?" ? "" : "&"}comment=${toCommentParameter(id)}`;
}

async function addThreads(
  on: ThreadPage,
  files: readonly PlacedFile[],
  notes: ReadonlyMap<string, FileNotes>,
  { comments }: CodeReview,
): Promise<void> {
  const byPath = Map.groupBy(groupThreads(comments), ({ root }) => root.code.path);
  // In the order of the page, in which one leads to the next.
  const placed = files.flatMap(({ file, id }) =>
    (byPath.get(file.path) ?? [])
      .toSorted((a, b) => a.root.code.line - b.root.code.line)
      .map((thread) => ({ thread, id })),
  );
  for (const [at, { thread, id }] of placed.entries()) {
    const place = toPlace(thread);
    const nextId = placed[at + 1]?.thread.root.entry.id;
    const head = <p class="soft">{namePlace(place)}</p>;
    const html = await toHtml(<CodeThread thread={thread} head={head} nextId={nextId} on={on} />);
    notes.get(id)?.add(place, html);
  }
}

const toHtml = async (element: ReturnType<typeof CodeThread>): Promise<string> =>
  (await element).toString();

interface OpenFormProps {
  on: ThreadPage;
  view: DiffView;
  asked: AskedForm;
}

function OpenForm({ on, view, asked: { place, id, body, fault } }: OpenFormProps) {
  const { page, pull, sending, hasPending } = on;
  const lines = `${place.side}${place.startLine}-${place.line}`;
  const maySuggest = id !== undefined && place.side === "R" && place.line > 0;
  return (
    <CodeForm
      repo={page.repo}
      hasFiles={page.ctx.config.areAttachmentsOn}
      sending={sending}
      now={page.ctx.now}
      place={place}
      repliedId={undefined}
      headOid={pull.pull.headOid}
      hasPending={hasPending}
      body={body}
      fault={fault}
      cancelHref={view.hrefWith(NO_FORM, id)}
      suggestHref={maySuggest ? `${toCommentHref(view, id)}${lines}&suggest=1` : undefined}
    />
  );
}

function toDiffNotes(
  page: EnteredPull,
  { review, changes, owners, view }: FileTalkProps,
  notes: ReadonlyMap<string, FileNotes>,
  mayComment: boolean,
  asked: AskedForm | undefined,
): DiffNotes {
  const isViewed = ({ path, oid }: ChangedPath): boolean => review.viewed.get(path) === oid;
  const isReader = page.ctx.actor.user !== undefined;
  return {
    bar: (
      <>
        {isReader ? (
          <span class="soft" id="viewed-count">
            {`${changes.filter(isViewed).length} of ${changes.length} viewed`}
          </span>
        ) : undefined}
        {mayComment ? (
          <>
            <span class="soft">Click a line&apos;s number to comment on it.</span>
            <a class="button" href={`#${REVIEW_ID}`}>
              {review.pending ? countComments(review.pending.commentCount) : "Review"}
            </a>
          </>
        ) : undefined}
      </>
    ),
    ofPath: (path) => <CommentCount of={review.counts.get(path) ?? 0} />,
    tools: (shown) => (
      <>
        {isReader ? <ViewedBox file={shown.file} isViewed={isViewed(shown.file)} /> : undefined}
        {mayComment ? (
          <a href={toCommentHref(view, shown.id)} data-comment={shown.file.path}>
            Comment<span class="hidden">{` on ${shown.file.path}`}</span>
          </a>
        ) : undefined}
      </>
    ),
    above: ({ id, file }: ShownDiff) => {
      const html = notes.get(id)?.rest ?? "";
      const names = owners.get(file.path);
      return (
        <>
          {names ? (
            <p class="inside soft owners">{`Owned by ${names.map((name) => `@${name}`).join(", ")}`}</p>
          ) : undefined}
          {html === "" ? undefined : <div class="above">{raw(html)}</div>}
        </>
      );
    },
    isFolded: (file) => isViewed(file) && file.path !== asked?.place.path,
  };
}

/** The box by which a reader marks a file as viewed. */
function ViewedBox({ file: { path, oid }, isViewed }: { file: FileDiff; isViewed: boolean }) {
  return (
    <button
      type="submit"
      form={VIEWED_ID}
      name={isViewed ? "unview" : "view"}
      value={`${oid} ${path}`}
      role="checkbox"
      aria-checked={isViewed ? "true" : "false"}
      class="viewed"
    >
      Viewed<span class="hidden">{` ${path}`}</span>
    </button>
  );
}
