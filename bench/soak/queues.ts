import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Work that waits in the databases, by kind: what the service has promised and not done yet. */
const WAITING = {
  dispatches: "select count(*) from events where dispatch_at is not null",
  consequences: "select count(*) from events where consequences_at is not null",
  deliveries: "select count(*) from hook_deliveries where next_attempt_at is not null",
  mails: "select count(*) from mails",
  imports: "select count(*) from imports where due_at is not null",
  mirrors: "select count(*) from pull_mirrors where leased_until > 0 or failure_count > 0",
  removals: "select count(*) from repository_remains",
  // For shards, in the first database: entries that all have copied are removed each minute.
  copies: "select count(*) from copied_changes",
  relays: "select count(*) from relayed_events",
  tasks: "select count(*) from shard_tasks",
  // In a shard: what the first database does not know yet.
  returns: "select count(*) from owned_changes",
} as const;
export const QUEUES = Object.keys(WAITING) as Queue[];
export type Queue = keyof typeof WAITING;

/** The length of each queue at a time since the start of the load. */
export type QueueSample = { atMs: number; lengths: Readonly<Record<Queue, number>> };

const INTERVAL_MS = 5000;
/** The parts of the run that are compared: its second quarter, since the first warms up, and its last. */
const QUARTERS = 4;
/** A queue is as long as its jobs are slow at that moment; a queue that grows is longer by more than this. */
const GROWTH_MAX = 1.5;
const SLACK = 20;

/** Reads how much waits, of the service's own files. Functions rather than methods, so that callers can pass them on. */
export type QueueReader = { read: () => QueueSample["lengths"]; close: () => void };

/** @param data The data directory of a service that has started. */
export function openQueueReader(data: string): QueueReader {
  const databases = openDatabases(data);
  const statements = QUEUES.map(
    (queue) => [queue, databases.map((database) => database.prepare(WAITING[queue]))] as const,
  );
  return {
    read: () =>
      Object.fromEntries(
        statements.map(([queue, counts]) => [
          queue,
          counts.reduce((sum, each) => sum + Number(Object.values(each.get() ?? {})[0]), 0),
        ]),
      ) as QueueSample["lengths"],
    close: () => databases.forEach((database) => database.close()),
  };
}

/** Opens the first database and those of shards among the files of the service's objects. */
function openDatabases(data: string): DatabaseSync[] {
  const databases = globSync("**/*.sqlite", { cwd: data }).flatMap((path) => {
    const database = new DatabaseSync(join(data, path), { readOnly: true, timeout: 5000 });
    const isOfService = database
      .prepare("select 1 from sqlite_master where type = 'table' and name = 'hook_deliveries'")
      .get();
    if (isOfService) return [database];
    database.close();
    return [];
  });
  if (databases.length === 0) throw new Error(`there is no database in ${data}`);
  return databases;
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
