import { percentile } from "../support/statistics.ts";
import { formatCells, formatInteger } from "../support/table.ts";
import { KINDS, type Latencies } from "./latencies.ts";
import { type Sample, windowsOf } from "./memory.ts";
import { type Queue, QUEUES, type QueueSample } from "./queues.ts";

const MB = 1024 * 1024;
/** Lines of the table of queues. */
const PARTS = 10;

export function formatLatencies(latencies: Latencies): string {
  const lines = KINDS.map((kind) => {
    const sorted = latencies.of(kind);
    const at = (share: number): string =>
      sorted.length === 0 ? "-" : percentile(sorted, share).toFixed(0);
    return [kind, formatInteger(sorted.length), at(0.5), at(0.99), at(1)];
  });
  return formatCells(["kind", "count", "p50 ms", "p99 ms", "max ms"], lines);
}

/** A line for each life of the service. */
export function formatMemory(lives: readonly (readonly Sample[])[]): string {
  const lines = lives.map((samples, at) => {
    const peak = Math.max(...samples.map(({ residentBytes }) => residentBytes));
    const { firstBytes, lastBytes } = windowsOf(samples);
    const minutes = ((samples.at(-1)?.atMs ?? 0) / 60_000).toFixed(0);
    const change = `${(100 * (lastBytes / firstBytes - 1)).toFixed(1)} %`;
    return [
      `${at + 1}, until minute ${minutes}`,
      inMb(firstBytes),
      inMb(lastBytes),
      change,
      inMb(peak),
    ];
  });
  return formatCells(["life", "MB after the warm-up", "MB at the end", "change", "peak MB"], lines);
}

/** A line for each tenth of the run, with the greatest lengths. */
export function formatQueues(samples: readonly QueueSample[]): string {
  const length = Math.max(1, Math.ceil(samples.length / PARTS));
  const lines = Array.from({ length: Math.ceil(samples.length / length) }, (_, at) => {
    const part = samples.slice(at * length, (at + 1) * length);
    const minutes = ((part.at(-1)?.atMs ?? 0) / 60_000).toFixed(1);
    const greatest = (queue: Queue) => Math.max(...part.map(({ lengths }) => lengths[queue]));
    return [`until minute ${minutes}`, ...QUEUES.map((queue) => formatInteger(greatest(queue)))];
  });
  return formatCells(["longest queue", ...QUEUES], lines);
}

const inMb = (bytes: number): string => formatInteger(bytes / MB);
