/** A row of a log as a runner sends it. */
export interface LogRow {
  /** In whole milliseconds, and the nanoseconds beyond that. */
  readonly timeMs: number;
  readonly nanos: number;
  readonly text: string;
}

/** A row of a stored log. */
export interface StoredLogRow {
  /** RFC 3339 with seven digits of the second, as in `2026-11-27T13:48:18.6150088Z`. */
  readonly time: string;
  readonly text: string;
}

/** Maximum characters of a row. */
const ROW_CHARS_MAX = 64 * 1024;

const encoder = new TextEncoder();

/** A row as a line of the log, with its line break. */
export function formatRow({ timeMs, nanos, text }: LogRow): string {
  const [begin] = toTime(timeMs).split(".", 1);
  const milliseconds = ((timeMs % 1000) + 1000) % 1000;
  const fraction = String(milliseconds * 10_000 + Math.floor(nanos / 100)).padStart(7, "0");
  return `${begin}.${fraction}Z ${cut(text).replaceAll("\r", "").replaceAll("\n", "\\n")}\n`;
}

/** A time of a runner may be any number. */
function toTime(timeMs: number): string {
  const time = new Date(timeMs);
  return Number.isNaN(time.getTime()) || Math.abs(time.getUTCFullYear()) > 9999
    ? new Date(0).toISOString()
    : time.toISOString();
}

const cut = (text: string): string =>
  text.length > ROW_CHARS_MAX ? text.slice(0, ROW_CHARS_MAX).toWellFormed() : text;

export const formatRows = (rows: readonly LogRow[]): Uint8Array =>
  encoder.encode(rows.map(formatRow).join(""));

/** The rows of a piece of a stored log. */
export function parseRows(bytes: Uint8Array): StoredLogRow[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  lines.pop();
  return lines.map((line) => {
    const at = line.indexOf(" ");
    return { time: line.slice(0, at), text: line.slice(at + 1) };
  });
}
