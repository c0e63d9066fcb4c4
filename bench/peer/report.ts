import { formatCells, formatInteger } from "../support/table.ts";
import type { PeerCase } from "./cases.ts";
import type { Measured } from "./measure.ts";

/** A case with its measurements: the service's, and Gitea's. */
export type Row = { one: PeerCase; own: Measured; peer: Measured };

/** How long 99 of 100 requests may take while nothing else runs, in milliseconds. */
const P99_MS_MAX = 10;

const COLUMNS = [
  "case",
  "req/s",
  "Gitea",
  "ratio",
  "goal",
  "CPU ms",
  "Gitea",
  "ratio",
  "p50 ms",
  "Gitea",
  "p99 ms",
  "Gitea",
  "goal",
];

/** The rows as a Markdown table; a ratio or time that misses its goal is marked. */
export function formatRows(rows: readonly Row[]): string {
  const mark = (text: string, isMissed: boolean): string => (isMissed ? `${text} (!)` : text);
  return formatCells(
    COLUMNS,
    rows.map(({ one, own, peer }) => [
      `${one.name}, ${one.caller}`,
      formatInteger(own.perSecond),
      formatInteger(peer.perSecond),
      mark((own.perSecond / peer.perSecond).toFixed(2), missesRate({ one, own, peer })),
      `>= ${one.shareMin.toFixed(1)}`,
      own.cpuMs.toFixed(2),
      peer.cpuMs.toFixed(2),
      (own.cpuMs / peer.cpuMs).toFixed(2),
      own.p50Ms.toFixed(1),
      peer.p50Ms.toFixed(1),
      mark(own.p99Ms.toFixed(1), own.p99Ms >= P99_MS_MAX),
      peer.p99Ms.toFixed(1),
      `< ${P99_MS_MAX}`,
    ]),
  );
}

/** How many goals the rows reach, in one line. */
export function summarize(rows: readonly Row[]): string {
  const fast = rows.filter((row) => !missesRate(row)).length;
  const prompt = rows.filter(({ own }) => own.p99Ms < P99_MS_MAX).length;
  return `${fast} of ${rows.length} cases reach the goal of requests per second, ${prompt} that of p99`;
}

const missesRate = ({ one, own, peer }: Row): boolean =>
  own.perSecond < one.shareMin * peer.perSecond;
