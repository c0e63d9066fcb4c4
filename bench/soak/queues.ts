import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Work that waits in the database, by kind: what the service has promised and not done yet. */
const WAITING = {
  dispatches: "select count(*) from events where dispatch_at is not null",
  consequences: "select count(*) from events where consequences_at is not null",
  deliveries: "select count(*) from hook_deliveries where next_attempt_at is not null",
  mails: "select count(*) from mails",
  imports: "select count(*) from imports where due_at is not null",
  mirrors: "select count(*) from pull_mirrors where leased_until > 0 or failure_count > 0",
  removals: "select count(*) from repository_remains",
} as const;
export const QUEUES = Object.keys(WAITING) as Queue[];
export type Queue = keyof typeof WAITING;

/** The length of each queue at a time since the start of the load. */
export type QueueSample = { atMs: number; lengths: Readonly<Record<Queue, number>> };

const INTERVAL_MS = 5000;
/**
 * The parts of the run that are compared: its second quarter, since the first warms up, and its
 * last.
 */
const QUARTERS = 4;
/**
 * A queue is as long as its jobs are slow at that moment; a queue that grows is longer by more than
 * this.
 */
const GROWTH_MAX = 1.5;
const SLACK = 20;

/**
 * Reads how much waits, of the service's own file. Functions rather than methods, so that callers
 * can pass them on.
 */
export type QueueReader = { read: () => QueueSample["lengths"]; close: () => void };

/** @param data The data directory of a service that has started. */
export function openQueueReader(data: string): QueueReader {
  const database = openDatabase(data);
  const statements = QUEUES.map((queue) => [queue, database.prepare(WAITING[queue])] as const);
  return {
    read: () =>
      Object.fromEntries(
        statements.map(([queue, statement]) => [
          queue,
          Number(Object.values(statement.get() ?? {})[0]),
        ]),
      ) as QueueSample["lengths"],
    close: () => database.close(),
  };
}

/** Opens the database among the files of the service's objects. */
function openDatabase(data: string): DatabaseSync {
  for (const path of globSync("**/*.sqlite", { cwd: data })) {
    const database = new DatabaseSync(join(data, path), { readOnly: true, timeout: 5000 });
    const isMain = database
      .prepare("select 1 from sqlite_master where type = 'table' and name = 'hook_deliveries'")
      .get();
    if (isMain) return database;
    database.close();
  }
  throw new Error(`there is no database in ${data}`);
}

/** Samples the queues every few seconds. */
export function sampleQueues(reader: QueueReader): { stop: () => QueueSample[] } {
  const samples: QueueSample[] = [];
  const startedAtMs = performance.now();
  const take = (): void => {
    samples.push({ atMs: performance.now() - startedAtMs, lengths: reader.read() });
  };
  take();
  const timer = setInterval(take, INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

/** @returns Which queues grew during the load; empty if none did. */
export function findGrowingQueues(samples: readonly QueueSample[]): string[] {
  const quarter = Math.floor(samples.length / QUARTERS);
  return QUEUES.flatMap((queue) => {
    const mean = (part: readonly QueueSample[]): number =>
      part.reduce((sum, { lengths }) => sum + lengths[queue], 0) / Math.max(1, part.length);
    const before = mean(samples.slice(quarter, 2 * quarter));
    const after = mean(samples.slice(samples.length - quarter));
    if (after <= before * GROWTH_MAX + SLACK) return [];
    return [`the queue of ${queue} grew from ${before.toFixed(0)} to ${after.toFixed(0)}`];
  });
}
