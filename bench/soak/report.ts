import { formatCells, formatInteger } from "../support/table.ts";
import { KINDS, type Latencies } from "./latencies.ts";
import { medianOf, type Sample, windowsOf } from "./memory.ts";

const MB = 1024 * 1024;
/** Lines of the table of memory. */
const PARTS = 10;

export function formatLatencies(latencies: Latencies): string {
  const lines = KINDS.map((kind) => {
    const sorted = latencies.of(kind);
    const at = (share: number): string => {
      const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
      return value === undefined ? "-" : value.toFixed(0);
    };
    return [kind, formatInteger(sorted.length), at(0.5), at(0.99), at(1)];
  });
  return formatCells(["kind", "count", "p50 ms", "p99 ms", "max ms"], lines);
}

export function formatMemory(samples: readonly Sample[], minutes: number): string {
  const length = Math.max(1, Math.ceil(samples.length / PARTS));
  const lines = Array.from({ length: Math.ceil(samples.length / length) }, (_, at) => {
    const part = samples.slice(at * length, (at + 1) * length);
    const peak = Math.max(...part.map(({ residentBytes }) => residentBytes));
    const until = ((minutes * (at + 1)) / PARTS).toFixed(1);
    return [`until minute ${until}`, inMb(medianOf(part)), inMb(peak)];
  });
  const { firstBytes, lastBytes } = windowsOf(samples);
  const change = (100 * (lastBytes / firstBytes - 1)).toFixed(1);
  return [
    formatCells(["resident memory", "median MB", "peak MB"], lines),
    `\nafter the warm-up: ${inMb(firstBytes)} MB, at the end: ${inMb(lastBytes)} MB (${change} %)`,
  ].join("\n");
}

const inMb = (bytes: number): string => formatInteger(bytes / MB);
