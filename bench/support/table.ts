/** Formats a Markdown table: the first column is text, the others are numbers. */
export function formatCells(head: string[], lines: string[][]): string {
  const cells = [head, ...lines];
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const [first = "", ...others] = cells.map(
    (row) => `| ${row.map((cell, at) => pad(cell, widths[at] ?? 0, at)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [first, rule, ...others].join("\n");
}

const pad = (cell: string, width: number, at: number): string =>
  at === 0 ? cell.padEnd(width) : cell.padStart(width);

export const formatInteger = (value: number): string => Math.round(value).toLocaleString("en");
