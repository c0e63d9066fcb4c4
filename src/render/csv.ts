import Papa from "papaparse";
import { escapeHtml } from "./html.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { type RenderBudget, STEPS_PER_CELL, TooMuchWork } from "./render-budget.ts";
import { sanitize } from "./sanitize.ts";

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
  const cells = data.reduce((sum, row) => sum + row.length, 0);
  if (cells > CELLS_MAX) throw new TooMuchWork(`it has more than ${CELLS_MAX} cells`);

  budget.consume(STEPS_PER_CELL * cells);
  await budget.pause();

  const [header = [], ...rows] = data;
  const head = formatRow(header, "th");
  const body = rows.map((row) => formatRow(row, "td")).join("");
  return sanitize(
    `<table class="data-table"><thead>${head}</thead>\n<tbody>${body}</tbody></table>\n`,
  );
}

function formatRow(cells: readonly string[], element: "td" | "th"): string {
  const content = cells.map((cell) => `<${element}>${escapeHtml(cell)}</${element}>`).join("");
  return `<tr>${content}</tr>\n`;
}
