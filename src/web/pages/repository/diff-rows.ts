import type { FileDiff } from "../../../domain/code/commits/list-file-diffs.ts";
import { type LineRow, pairLines, type SideLine } from "../../../domain/code/commits/pair-lines.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { Budget } from "../../../git/budget.ts";
import type { Hunk } from "../../../git/diff/unified.ts";
import type { LineRange } from "../../../git/diff/widen-hunks.ts";
import { escapeHtml } from "../../../render/html.ts";
import { type DiffView, formatRanges } from "./diff-view.ts";

/** Lines that a link adds to what is shown of a file. */
const EXPANDED_LINES = 20;

/**
 * Formats the table rows of a file's changes. Each line has an address of its own, as in Gitea:
 * `#diff-…L12` for one that is removed, `#diff-…R12` for others.
 *
 * @param id     The name of the file's place in the page.
 * @param budget Bounds the comparison of words.
 */
export async function formatRows(
  file: FileDiff,
  id: string,
  view: DiffView,
  budget: Budget,
): Promise<string> {
  const format = view.style === "split" ? formatSplit : formatUnified;
  let html = "";
  for (const [at, hunk] of file.hunks.entries()) {
    html += formatGap(file, file.hunks[at - 1], hunk, id, view);
    html += format(await pairLines(hunk, budget), id);
  }
  return file.isCut ? html : html + formatGap(file, file.hunks.at(-1), undefined, id, view);
}

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
  const links = [
    ...(before && !isWhole ? [["↓", ends.down] as const] : []),
    ...(after && !isWhole ? [["↑", ends.up] as const] : []),
    ...(isWhole ? [["↕", ends.down] as const] : []),
  ].map(([arrow, range]) => formatLink(arrow, range, path, id, view));
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
function formatUnified(rows: readonly LineRow[], id: string): string {
  let html = "";
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (rows[end]?.isChanged) end++;
    const changed = rows.slice(at, end);
    for (const { left } of changed) {
      if (left)
        html += `<tr class="removed">${numberCell(left, `${id}L`)}<td></td>${textCell(left)}</tr>`;
    }
    for (const { right } of changed) {
      if (right)
        html += `<tr class="added"><td></td>${numberCell(right, `${id}R`)}${textCell(right)}</tr>`;
    }
    const { left, right } = rows[end] ?? {};
    if (left && right) {
      html += `<tr><td>${left.number}</td>${numberCell(right, `${id}R`)}${textCell(right)}</tr>`;
    }
    at = end + 1;
  }
  return html;
}

function formatSplit(rows: readonly LineRow[], id: string): string {
  let html = "";
  for (const { left, right, isChanged } of rows) {
    if (isChanged) {
      html += `<tr>${sideCells(left, "removed", `${id}L`)}${sideCells(right, "added", `${id}R`)}</tr>`;
    } else if (left && right) {
      html += `<tr><td>${left.number}</td>${textCell(left)}${numberCell(right, `${id}R`)}${textCell(right)}</tr>`;
    }
  }
  return html;
}

const sideCells = (
  line: SideLine | undefined,
  kind: "removed" | "added",
  beginning: string,
): string =>
  line
    ? numberCell(line, beginning, kind) + textCell(line, kind)
    : '<td class="none"></td><td class="none"></td>';

function numberCell({ number }: SideLine, beginning: string, kind?: string): string {
  const name = `${beginning}${number}`;
  return `<td id="${name}"${classOf(kind)}><a href="#${name}">${number}</a></td>`;
}

function textCell({ runs, isCut, isTerminated }: SideLine, kind?: string): string {
  const html = runs.map(({ text, isChanged }) =>
    isChanged ? `<b>${escapeHtml(text, false)}</b>` : escapeHtml(text, false),
  );
  const note = isCut ? "… (the line is longer)" : isTerminated ? "" : " (no line feed)";
  const marked = note === "" ? "" : `<span class="soft">${note}</span>`;
  return `<td${classOf(kind)}>${html.join("")}${marked}</td>`;
}

const classOf = (kind: string | undefined): string =>
  kind === undefined ? "" : ` class="${kind}"`;
