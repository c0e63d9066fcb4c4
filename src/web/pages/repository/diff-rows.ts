import type { FileDiff } from "../../../domain/code/commits/list-file-diffs.ts";
import { type LineRow, pairLines, type SideLine } from "../../../domain/code/commits/pair-lines.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { Budget } from "../../../git/budget.ts";
import type { Hunk } from "../../../git/diff/unified.ts";
import type { LineRange } from "../../../git/diff/widen-hunks.ts";
import type { StepBudget } from "../../../lib/step-budget.ts";
import { escapeHtml } from "../../../render/html.ts";
import { markRuns } from "../../../render/mark-runs.ts";
import { type DiffView, formatRanges } from "./diff-view.ts";
import { grammarsOf } from "./languages.ts";

/** Lines that a link adds to what is shown of a file. */
const EXPANDED_LINES = 20;

/** What bounds the work on the lines of a page. */
interface RowBudgets {
  /** The comparison of words. */
  readonly words: Budget;
  /** Once it is exhausted, lines are not highlighted. */
  readonly highlighting: StepBudget;
}

/** A side of a diff, as addresses of lines name it: the file before the change, or after it. */
export type LineSide = "L" | "R";

/** What a page adds to the lines of a file. */
export interface LineNotes {
  /** The address to which the number of a line leads; by default that of the line itself. */
  readonly hrefOf: ((side: LineSide, line: number) => string) | undefined;
  /** What stands below a line, as HTML; "" for nothing. */
  readonly below: (side: LineSide, line: number) => string;
}

/** A file as its lines are formatted. */
interface FileFormat {
  /** The name of the file's place in the page. */
  readonly id: string;
  readonly highlighted: Highlighted;
  readonly notes: LineNotes | undefined;
}

/** The HTML of lines that are highlighted. */
type Highlighted = ReadonlyMap<SideLine, string>;

/**
 * Formats the table rows of a file's changes. Each line has an address of its own, as in Gitea:
 * `#diff-…L12` for one that is removed, `#diff-…R12` for others.
 *
 * @param id The name of the file's place in the page.
 */
export async function formatRows(
  file: FileDiff,
  id: string,
  view: DiffView,
  { words, highlighting }: RowBudgets,
  notes?: LineNotes,
): Promise<string> {
  const format = view.style === "split" ? formatSplit : formatUnified;
  let html = "";
  for (const [at, hunk] of file.hunks.entries()) {
    html += formatGap(file, file.hunks[at - 1], hunk, id, view);
    const rows = await pairLines(hunk, words);
    const highlighted = await highlightRows(file, rows, highlighting);
    html += format(rows, { id, highlighted, notes });
  }
  return file.isCut ? html : html + formatGap(file, file.hunks.at(-1), undefined, id, view);
}

/**
 * Highlights the lines of a hunk, each side as one text: an unchanged line is the same on both, and
 * so only one of a side that changes is highlighted for itself.
 */
async function highlightRows(
  { path, oldPath = path }: FileDiff,
  rows: readonly LineRow[],
  budget: StepBudget,
): Promise<Highlighted> {
  const html = new Map<SideLine, string>();
  const isChanged = (side: "left" | "right"): boolean =>
    rows.some((row) => row.isChanged && row[side]);
  const sides = [
    ["left", oldPath],
    ["right", path],
  ] as const;
  // The right side comes last, so that unchanged lines are as they are there.
  for (const [side, name] of sides) {
    if (budget.isExhausted || !isChanged(side)) continue;
    const lines = await highlightSide(name, rows, side, budget);
    let at = 0;
    for (const { left, right, ...row } of rows) {
      const line = side === "left" ? left : right;
      if (!line) continue;
      const text = lines[at++] ?? "";
      for (const each of row.isChanged ? [line] : [left, right]) if (each) html.set(each, text);
    }
  }
  return html;
}

async function highlightSide(
  path: string,
  rows: readonly LineRow[],
  side: "left" | "right",
  budget: StepBudget,
): Promise<string[]> {
  // Loaded on first use: it is large, and most pages show no code.
  const { highlightLines } = await import("../../../render/highlight-lines.ts");
  const lines = rows.flatMap((row) => row[side] ?? []).map(textOf);
  const name = path.slice(path.lastIndexOf("/") + 1);
  return highlightLines(lines.join("\n"), await grammarsOf(name), budget);
}

const textOf = ({ runs }: SideLine): string => runs.map(({ text }) => text).join("");

/** The row between two hunks, with the links that show the lines there; "" for no lines. */
function formatGap(
  { path, newLineCount }: FileDiff,
  before: Hunk | undefined,
  after: Hunk | undefined,
  id: string,
  view: DiffView,
): string {
  const first = before ? before.rightStart + before.rightCount : 1;
  const last = after ? after.rightStart - 1 : newLineCount;
  if (last < first) return "";
  const ends = {
    down: { first, last: Math.min(last, first + EXPANDED_LINES - 1) },
    up: { first: Math.max(first, last - EXPANDED_LINES + 1), last },
  };
  const isWhole = last - first < EXPANDED_LINES;
  const links = (
    view.isOfDraft
      ? []
      : [
          ...(before && !isWhole ? [["↓", ends.down] as const] : []),
          ...(after && !isWhole ? [["↑", ends.up] as const] : []),
          ...(isWhole ? [["↕", ends.down] as const] : []),
        ]
  ).map(([arrow, range]) => formatLink(arrow, range, path, id, view));
  const colspans = view.style === "split" ? [1, 3] : [2, 1];
  const header = after ? escapeHtml(formatHeader(after)) : "";
  return `<tr class="hunk"><td colspan="${colspans[0]}">${links.join("")}</td><td colspan="${colspans[1]}">${header}</td></tr>`;
}

function formatLink(
  arrow: string,
  range: LineRange,
  path: string,
  id: string,
  { query, hrefWith }: DiffView,
): string {
  const expanded = query.only === path ? query.expanded : [];
  const href = hrefWith(
    { files: path, "skip-to": undefined, expand: formatRanges([...expanded, range]) },
    `${id}R${range.first}`,
  );
  const label = `Show lines ${range.first} to ${range.last}`;
  return `<a href="${escapeHtml(href)}" data-part="${id}" aria-label="${label}" title="${label}">${arrow}</a>`;
}

function formatHeader({ leftStart, leftCount, rightStart, rightCount, heading }: Hunk): string {
  const range = `@@ -${leftStart},${leftCount} +${rightStart},${rightCount} @@`;
  return heading === "" ? range : `${range} ${decodeText(heading)}`;
}

/** Removed lines above the added ones of the same change. */
function formatUnified(rows: readonly LineRow[], file: FileFormat): string {
  const { highlighted } = file;
  let html = "";
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (rows[end]?.isChanged) end++;
    const changed = rows.slice(at, end);
    for (const { left } of changed) {
      if (left)
        html += `<tr class="removed">${numberCell(left, "L", file)}<td></td>${textCell(left, highlighted)}</tr>${rowBelow(file, left, undefined, 3)}`;
    }
    for (const { right } of changed) {
      if (right)
        html += `<tr class="added"><td></td>${numberCell(right, "R", file)}${textCell(right, highlighted)}</tr>${rowBelow(file, undefined, right, 3)}`;
    }
    const { left, right } = rows[end] ?? {};
    if (left && right) {
      html += `<tr><td>${left.number}</td>${numberCell(right, "R", file)}${textCell(right, highlighted)}</tr>${rowBelow(file, left, right, 3)}`;
    }
    at = end + 1;
  }
  return html;
}

function formatSplit(rows: readonly LineRow[], file: FileFormat): string {
  const { highlighted } = file;
  const sideCells = (
    line: SideLine | undefined,
    kind: "removed" | "added",
    side: LineSide,
  ): string =>
    line
      ? numberCell(line, side, file, kind) + textCell(line, highlighted, kind)
      : '<td class="none"></td><td class="none"></td>';
  let html = "";
  for (const { left, right, isChanged } of rows) {
    if (isChanged) {
      html += `<tr>${sideCells(left, "removed", "L")}${sideCells(right, "added", "R")}</tr>`;
    } else if (left && right) {
      html += `<tr><td>${left.number}</td>${textCell(left, highlighted)}${numberCell(right, "R", file)}${textCell(right, highlighted)}</tr>`;
    }
    html += rowBelow(file, left, right, 4);
  }
  return html;
}

/** The row with what stands below the lines of a row; "" for nothing. */
function rowBelow(
  { notes }: FileFormat,
  left: SideLine | undefined,
  right: SideLine | undefined,
  columns: number,
): string {
  if (!notes) return "";
  const html =
    (left ? notes.below("L", left.number) : "") + (right ? notes.below("R", right.number) : "");
  return html === "" ? "" : `<tr class="below"><td colspan="${columns}">${html}</td></tr>`;
}

function numberCell(
  { number }: SideLine,
  side: LineSide,
  { id, notes }: FileFormat,
  kind?: string,
): string {
  const name = `${id}${side}${number}`;
  const href = notes?.hrefOf?.(side, number) ?? `#${name}`;
  return `<td id="${name}"${classOf(kind)}><a href="${escapeHtml(href)}">${number}</a></td>`;
}

function textCell(line: SideLine, highlighted: Highlighted, kind?: string): string {
  const { runs, isCut, isTerminated } = line;
  const html = highlighted.get(line) ?? escapeHtml(textOf(line), false);
  const note = isCut ? "… (the line is longer)" : isTerminated ? "" : " (no line feed)";
  const marked = note === "" ? "" : `<span class="soft">${note}</span>`;
  return `<td${classOf(kind)}>${markRuns(html, runs)}${marked}</td>`;
}

const classOf = (kind: string | undefined): string =>
  kind === undefined ? "" : ` class="${kind}"`;
