import Papa from "papaparse";
import { escapeHtml } from "./html.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { type RenderBudget, STEPS_PER_CELL, TooMuchWork } from "./render-budget.ts";
import { sanitize } from "./sanitize.ts";

/** Steps to read a character. */
const STEPS_PER_CHAR = 3;
/** Maximum number of cells; a larger page would be of no use. */
const CELLS_MAX = 50_000;

/**
 * Renders comma- or tab-separated values as a table, with the first row as the header.
 *
 * @throws TooMuchWork for more than 50,000 cells.
 */
export async function renderCsv(
  source: string,
  _options: MarkupOptions,
  budget: RenderBudget,
): Promise<string> {
  const { data } = Papa.parse<string[]>(source, { skipEmptyLines: true });
  await budget.pause(STEPS_PER_CHAR * source.length);
  const cells = data.reduce((sum, row) => sum + row.length, 0);
  if (cells > CELLS_MAX) throw new TooMuchWork(`it has more than ${CELLS_MAX} cells`);

  budget.reserve(STEPS_PER_CELL * cells);

  return sanitize(formatTable(data), budget);
}

function* formatTable([header = [], ...rows]: readonly string[][]): Generator<string> {
  yield `<table class="data-table"><thead>${formatRow(header, "th")}</thead>\n<tbody>`;
  for (const row of rows) yield formatRow(row, "td");
  yield "</tbody></table>\n";
}

function formatRow(cells: readonly string[], element: "td" | "th"): string {
  const content = cells.map((cell) => `<${element}>${escapeHtml(cell)}</${element}>`).join("");
  return `<tr>${content}</tr>\n`;
}
