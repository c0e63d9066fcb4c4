import type { StoredLogRow } from "../../../domain/actions/tasks/log-rows.ts";
import { escapeHtml } from "../../../render/html.ts";
import { readLogLine, toTerminalHtml } from "../../../render/log-text.ts";
import { pause } from "../../../lib/time-slice.ts";

/** Steps of work for a character of a row. */
const CHAR_STEPS = 20;
const ROW_STEPS = 1000;

interface RowsOptions {
  /** The section of the log, and the number of the first row there, from 1. */
  readonly section: number;
  readonly number: number;
  readonly hasTimes: boolean;
}

/**
 * Rows of a section of a log as HTML, each with an address: `#3-12`. Groups are folded, but for
 * those with an error.
 */
export async function renderRows(
  rows: readonly StoredLogRow[],
  { section, number, hasTimes }: RowsOptions,
): Promise<string> {
  let html = "";
  let group: { readonly head: string; body: string; hasError: boolean } | undefined;
  const endGroup = (): void => {
    if (!group) return;
    html += `<details${group.hasError ? " open" : ""}><summary>${group.head}</summary>${group.body}</details>`;
    group = undefined;
  };
  for (const [at, { time, text }] of rows.entries()) {
    await pause(ROW_STEPS + text.length * CHAR_STEPS);
    const line = readLogLine(text);
    if (line.kind === "end") {
      endGroup();
      continue;
    }
    const id = `${section}-${number + at}`;
    const shownTime = hasTimes ? `<i>${escapeHtml(time.slice(0, 19))}Z </i>` : "";
    const kind = line.kind === "text" ? "" : ` class="row-${line.kind}"`;
    const word = WORDS[line.kind] ?? "";
    const isGroup = line.kind === "group";
    // A summary is a control itself, and holds no link.
    const link = isGroup ? "" : `<a href="#${id}">${number + at}</a>`;
    const row = `<span id="${id}"${kind}>${link}${shownTime}${word}${toTerminalHtml(line.text)}\n</span>`;
    if (isGroup) {
      endGroup();
      group = { head: row, body: "", hasError: false };
    } else if (group) {
      group.body += row;
      group.hasError ||= line.kind === "error";
    } else html += row;
  }
  endGroup();
  return html;
}

/** What colors say alone. */
const WORDS: Readonly<Record<string, string>> = {
  error: "<b>Error: </b>",
  warning: "<b>Warning: </b>",
  notice: "<b>Notice: </b>",
  debug: "<b>Debug: </b>",
};
