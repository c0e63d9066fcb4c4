/**
 * `npm run bench:soak`: whether `npm start` stays well under lasting load, and loses nothing when
 * it is killed.
 *
 * Measures the capacity, then sends half of it for two hours: reads and writes by API, git,
 * packages, mirrors and webhooks, and kills the service every ten minutes. Fails if memory or a
 * queue grows, if the service logs an error, if a response is not the expected one, if what was
 * answered as done is gone after a kill, or if a webhook does not arrive. bench/README.md explains
 * the numbers.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { stopGit } from "./git/git.ts";
import { openHttpBackend } from "./git/http-backend.ts";
import { openForge } from "./soak/forge.ts";
import { Latencies } from "./soak/latencies.ts";
import { findGrowth, MemorySamples } from "./soak/memory.ts";
import { parseOptions } from "./soak/options.ts";
import { Pace } from "./soak/pace.ts";
import {
  findGrowingQueues,
  openQueueReader,
  QUEUES,
  type QueueReader,
  sampleQueues,
} from "./soak/queues.ts";
import { openReceiver } from "./soak/receiver.ts";
import { formatLatencies, formatMemory, formatQueues } from "./soak/report.ts";
import { openSoakService } from "./soak/service.ts";
import { openSteps } from "./soak/steps.ts";
import { openUpstream } from "./soak/upstream.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

/**
 * How long the queues may take to become empty at the end: some jobs are repeated by a schedule of
 * ten minutes.
 */
const DRAIN_MS = 15 * 60_000;
const MINUTE_MS = 60_000;
/** How long the capacity is measured, and before it how long the service warms up. */
const CAPACITY_MS = MINUTE_MS;
const WARM_UP_MS = MINUTE_MS / 2;

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { minutes, concurrency, killMinutes, share } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await track({ close: stopGit });
  let latencies = new Latencies();
  const receiver = await track(openReceiver((durationMs) => latencies.note("webhook", durationMs)));
  const data = join(directory, "data");
  const upstreams = join(directory, "upstreams");
  const gitServer = await track(openHttpBackend(upstreams));
  const service = await track(openSoakService(data));
  const forge = await openForge(service);
  const workers = await Promise.all(
    Array.from({ length: concurrency }, async (_, at) => {
      const name = `worker-${at}`;
      const work = join(directory, name);
      mkdirSync(work);
      const upstream = await openUpstream(gitServer, upstreams, name);
      return openSteps({
        forge,
        receiver,
        time: (kind, done) => latencies.time(kind, done),
        upstream,
        work,
        name,
      });
    }),
  );
  let turns = 0;
  /** Lets all workers make steps. @returns Steps per second. */
  const run = async (durationMs: number, pace?: Pace): Promise<number> => {
    const startedAtMs = performance.now();
    const endMs = startedAtMs + durationMs;
    let steps = 0;
    await Promise.all(
      workers.map(async (step) => {
        while (performance.now() < endMs) {
          await pace?.turn();
          await step(turns++);
          steps++;
        }
      }),
    );
    return (1000 * steps) / (performance.now() - startedAtMs);
  };

  await run(WARM_UP_MS);
  const capacity = await run(CAPACITY_MS);
  console.log(
    `capacity: ${capacity.toFixed(1)} steps a second; load: ${(share * capacity).toFixed(1)}`,
  );

  latencies = new Latencies();
  const reader = openQueueReader(data);
  await track({ close: async () => reader.close() });
  const memory = new MemorySamples();
  const queues = sampleQueues(reader);
  memory.follow(service.runtimePid());
  const kill = async (): Promise<void> => {
    memory.pause();
    await service.kill();
    memory.follow(service.runtimePid());
  };
  const killing = killMinutes === 0 ? undefined : killEvery(killMinutes, minutes, kill);
  const rate = await run(minutes * MINUTE_MS, new Pace(share * capacity));
  await killing;
  memory.pause();
  const samples = queues.stop();
  const left = await drain(reader, receiver.pending);

  console.log(`\n${rate.toFixed(1)} steps a second, ${service.kills()} kills`);
  for (const table of [
    formatLatencies(latencies),
    formatMemory(memory.lives),
    formatQueues(samples),
  ])
    console.log(`\n${table}`);
  const complaints = [
    ...findGrowth(memory.lives),
    ...findGrowingQueues(samples),
    ...left,
    ...service.errors().map((line) => `the service logged an error: ${line}`),
  ];
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) process.exitCode = 1;
  else console.log("\nmemory and queues are flat, nothing was lost, and no error was logged");
}

/** Kills the service every few minutes, and not in the last of these intervals. */
async function killEvery(
  killMinutes: number,
  minutes: number,
  kill: () => Promise<void>,
): Promise<void> {
  for (let at = killMinutes; at <= minutes - killMinutes; at += killMinutes) {
    await pause(killMinutes * MINUTE_MS);
    await kill();
  }
}

/** Waits until nothing waits in the service any more. @returns What does in the end. */
async function drain(reader: QueueReader, pending: () => number): Promise<string[]> {
  const leftNow = (): string[] => {
    const lengths = reader.read();
    const queues = QUEUES.filter((queue) => lengths[queue] > 0);
    const left = queues.map((queue) => `the queue of ${queue} still has ${lengths[queue]}`);
    return pending() > 0 ? [...left, `${pending()} webhooks did not arrive`] : left;
  };
  for (const until = performance.now() + DRAIN_MS; ;) {
    const left = leftNow();
    if (left.length === 0 || performance.now() > until) return left;
    await pause(1000);
  }
}
