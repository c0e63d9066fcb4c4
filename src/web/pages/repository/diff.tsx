import { raw } from "hono/html";
import type { Child } from "hono/jsx";

import type { FileDiff, FileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import type { Ctx } from "../../../context.ts";
import { formatMode } from "../../../git/diff/quote-path.ts";
import { formatHex } from "../../../lib/hex.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { sourcePath, type SourceRoute, wikiFilePath } from "../addresses.ts";
import { formatRows, type LineNotes } from "./diff-rows.ts";
import { DiffTree, LineCounts } from "./diff-tree.tsx";
import { DIFF_STYLES, type DiffView, WHITESPACE_LABELS } from "./diff-view.ts";

/** How a page with a `Diff` is sent. */
export const DIFF_PAGE = { scripts: ["diff.ts"], loadsParts: true } as const;

/** The tree of more files than these is closed at first. */
const OPEN_FILES_MAX = 200;

/** Steps to compare words on a page: about 0.2 s of processor time. */
const WORD_STEPS_MAX = 20_000_000;
/**
 * Steps to highlight the lines of a page: some 20 ms of processor time for 100 KB of HTML. What is
 * beyond them is shown without colors.
 */
const HIGHLIGHT_STEPS_MAX = 20_000_000;

/** A commit whose files are one side of a diff. */
interface Side {
  readonly repo: RepositoryContext;
  readonly commitOid: string;
}

/** The commits that a diff is between; the old one is undefined for the empty tree. */
interface DiffSides {
  readonly old: Side | undefined;
  readonly fresh: Side;
}

/** What a page adds to a diff. */
export interface DiffNotes {
  /** Beside the number of files. */
  readonly bar: Child;
  /** Beside a file's name in the tree. */
  readonly ofPath: (path: string) => Child;
  /** In the head of a file, beside the link to it. */
  readonly tools: (shown: ShownDiff) => Child;
  /** Between the head of a file and its lines. */
  readonly above: (shown: ShownDiff) => Child;
  /** Whether a file is folded at first. */
  readonly isFolded: (file: FileDiff) => boolean;
}

/** A file of a diff as a page shows it. */
export interface ShownDiff {
  readonly file: FileDiff;
  /** `diff-` and the SHA-1 of the path, as links of Gitea have it. */
  readonly id: string;
  /** The rows of its table. */
  readonly html: string;
}

/** The name of a file's place in a page. */
export async function placeOfFile(path: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(path));
  return `diff-${formatHex(new Uint8Array(digest))}`;
}

/**
 * Formats the lines of files for a `Diff`.
 *
 * @param notesOf Returns what the page adds to the lines of a file, by the name of its place.
 */
export async function showDiffs(
  ctx: Ctx,
  items: readonly FileDiff[],
  view: DiffView,
  notesOf?: (id: string) => LineNotes,
): Promise<ShownDiff[]> {
  const budgets = {
    words: ctx.git.openBudget(WORD_STEPS_MAX),
    highlighting: ctx.git.openBudget(HIGHLIGHT_STEPS_MAX),
  };
  const shown: ShownDiff[] = [];
  for (const file of items) {
    const id = await placeOfFile(file.path);
    shown.push({ file, id, html: await formatRows(file, id, view, budgets, notesOf?.(id)) });
  }
  return shown;
}

const KIND_NAMES = {
  added: "added",
  deleted: "deleted",
  modified: undefined,
  renamed: "renamed",
  copied: "copied",
} as const;

interface DiffProps {
  diffs: FileDiffs;
  /** The items of `diffs`. */
  shown: readonly ShownDiff[];
  sides: DiffSides;
  view: DiffView;
  notes?: DiffNotes | undefined;
}

/** How files differ: a tree of all files, and the lines of those that this page shows. */
export function Diff({ diffs: { changes, start }, shown, sides, view, notes }: DiffProps) {
  const next = changes[start + shown.length];
  const isOnly = view.query.only !== undefined;
  const byPath = new Map(shown.map((each) => [each.file.path, each]));
  return (
    <div class={`diff-page ${view.style}`}>
      <DiffBar changes={changes} shown={shown} view={view} notes={notes} />
      {changes.length > 1 ? (
        <details class="box diff-tree" open={changes.length <= OPEN_FILES_MAX}>
          <summary class="box-head">Files</summary>
          <DiffTree changes={changes} shown={byPath} view={view} noteOf={notes?.ofPath} />
        </details>
      ) : undefined}
      <div class="diff-files">
        {shown.map((each) => (
          <FileBox shown={each} sides={sides} view={view} notes={notes} />
        ))}
        {isOnly || next ? (
          <p class="pager" id="diff-more">
            <span class="soft">
              {isOnly
                ? `1 of ${changes.length} files`
                : `Files ${start + 1} to ${start + shown.length} of ${changes.length}`}
            </span>
            {isOnly ? (
              <a class="button" href={view.hrefWith({ files: undefined, expand: undefined })}>
                Show all files
              </a>
            ) : next ? (
              <a
                class="button"
                href={view.hrefWith({ "skip-to": next.path })}
                data-part="diff-more"
                rel="next"
              >
                Show more files
              </a>
            ) : undefined}
          </p>
        ) : undefined}
      </div>
    </div>
  );
}

function DiffBar({
  changes,
  shown,
  view,
  notes,
}: Pick<DiffProps, "shown" | "view" | "notes"> & Pick<FileDiffs, "changes">) {
  const { style, query, hrefWith } = view;
  const isWhole = shown.length === changes.length;
  const sum = (key: "added" | "removed") =>
    shown.reduce((count, { file }) => count + (file.stat?.[key] ?? 0), 0);
  return (
    <div class="diff-bar">
      <h2 class="grow">
        {`${changes.length} changed file${changes.length === 1 ? "" : "s"} `}
        {isWhole ? (
          <LineCounts file={{ stat: { added: sum("added"), removed: sum("removed") } }} />
        ) : undefined}
      </h2>
      {notes?.bar}
      <nav class="choice" aria-label="Layout of the diff">
        {DIFF_STYLES.map((each) => (
          <a href={hrefWith({ style: each })} aria-current={each === style ? "true" : undefined}>
            {each === "split" ? "Split" : "Unified"}
          </a>
        ))}
      </nav>
      <details class="menu end">
        <summary class="button">White space</summary>
        <div class="menu-body">
          <ul>
            {Object.entries(WHITESPACE_LABELS).map(([value, label]) => (
              <li>
                <a
                  href={hrefWith({ whitespace: value })}
                  aria-current={value === query.whitespace ? "true" : undefined}
                >
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      </details>
    </div>
  );
}

interface FileBoxProps extends Pick<DiffProps, "sides" | "view" | "notes"> {
  shown: ShownDiff;
}

function FileBox({ shown, sides, view, notes }: FileBoxProps) {
  const { file, id } = shown;
  const { path, oldPath, oldMode, newMode, kind } = file;
  const isModeChanged = oldMode !== undefined && newMode !== undefined && oldMode !== newMode;
  return (
    <section class="box diff-file" id={id} aria-label={path} data-row>
      <details open={notes?.isFolded(file) !== true}>
        <summary class="box-head">
          <span>
            {oldPath === undefined ? undefined : <span class="soft">{`${oldPath} → `}</span>}
            <strong>{path}</strong>
          </span>
          {isModeChanged ? (
            <span class="soft">{`${formatMode(oldMode)} → ${formatMode(newMode)}`}</span>
          ) : undefined}
          {KIND_NAMES[kind] ? <span class="label">{KIND_NAMES[kind]}</span> : undefined}
          <LineCounts file={file} />
        </summary>
        {notes?.above(shown)}
        <FileBody shown={shown} sides={sides} view={view} />
      </details>
      <div class="diff-tools">
        {notes?.tools(shown)}
        <a class="subject" href={pathOf(file, sides, "src") ?? `#${id}`}>
          View<span class="hidden">{` ${path}`}</span>
        </a>
      </div>
    </section>
  );
}

/** The path of a page about a file on the side where it exists, or on the old side. */
function pathOf(
  { kind, path, oldPath }: FileDiff,
  { old, fresh }: DiffSides,
  view: SourceRoute,
  isOld = kind === "deleted",
): string | undefined {
  if (isOld ? kind === "added" : kind === "deleted") return undefined;
  const side = isOld ? old : fresh;
  const revision = { kind: "commit", name: side?.commitOid ?? "" } as const;
  const shown = isOld ? (oldPath ?? path) : path;
  if (side?.repo.isWiki) return wikiFilePath(side.repo, shown, side.commitOid, view === "media");
  return side && sourcePath(side.repo, view, revision, shown);
}

function FileBody({ shown: { file, id, html }, sides, view }: FileBoxProps) {
  const { path, stat, hunks, isCut, kind, oldMode, newMode } = file;
  if (!stat) {
    return IMAGE.test(path) ? (
      <Images file={file} sides={sides} />
    ) : (
      <p class="inside soft">This file is not shown: it is no text, or it is too large.</p>
    );
  }
  if (hunks.length === 0) {
    const isSpace = view.query.whitespace !== "show-all" && kind === "modified";
    return (
      <p class="inside soft">
        {isSpace && oldMode === newMode ? "Only white space differs." : "The content is the same."}
      </p>
    );
  }
  return (
    <>
      <table class="diff" aria-label={`Changes of ${path}`}>
        {view.style === "split" ? (
          <colgroup>
            <col class="number" />
            <col />
            <col class="number" />
            <col />
          </colgroup>
        ) : undefined}
        <tbody>{raw(html)}</tbody>
      </table>
      {isCut ? (
        <p class="inside">
          {view.query.only === undefined ? (
            <a
              href={view.hrefWith({ files: path, "skip-to": undefined, expand: undefined }, id)}
              data-part={id}
            >
              Show all changes of this file
            </a>
          ) : (
            <span class="soft">The rest of this file's changes is too long to be shown.</span>
          )}
        </p>
      ) : undefined}
    </>
  );
}

/** Pictures that are served as such. */
const IMAGE = /\.(?:avif|gif|ico|jpe?g|png|webp)$/i;

/** A picture before and after a change. */
function Images({ file, sides }: { file: FileDiff; sides: DiffSides }) {
  const images = [
    ["Before", pathOf(file, sides, "media", true)],
    ["After", pathOf(file, sides, "media", false)],
  ] as const;
  return (
    <div class="inside diff-images">
      {images.map(([label, src]) =>
        src === undefined ? undefined : (
          <figure>
            <figcaption class="soft">{label}</figcaption>
            <img src={src} alt={`${file.path}, ${label.toLowerCase()} the change`} loading="lazy" />
          </figure>
        ),
      )}
    </div>
  );
}
