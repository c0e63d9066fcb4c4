/**
 * `npm run bench:soak`: whether `npm start` stays well under lasting load.
 *
 * Sends reads, writes and pushes by git to a service with webhooks, and samples the memory of its runtime.
 * Fails if memory grows after the warm-up, if the service logs an error, if a response is not the expected one or
 * if a webhook does not arrive. bench/README.md explains the numbers.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { stopGit } from "./git/git.ts";
import { openForge } from "./soak/forge.ts";
import { Latencies } from "./soak/latencies.ts";
import { findGrowth, sampleMemory } from "./soak/memory.ts";
import { parseOptions } from "./soak/options.ts";
import { openReceiver } from "./soak/receiver.ts";
import { formatMemory, formatLatencies } from "./soak/report.ts";
import { openSoakService } from "./soak/service.ts";
import { openSteps } from "./soak/steps.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

/** How long a webhook may take at the end. */
const ARRIVAL_MS = 60_000;
const MINUTE_MS = 60_000;

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { minutes, concurrency } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await track({ close: stopGit });
  const latencies = new Latencies();
  const receiver = await track(openReceiver((durationMs) => latencies.note("webhook", durationMs)));
  const service = await track(openSoakService(join(directory, "data")));
  const forge = await openForge(service);

  const endMs = performance.now() + minutes * MINUTE_MS;
  const memory = sampleMemory(service.runtimePid(), minutes * MINUTE_MS);
  const loops = Array.from({ length: concurrency }, async (_, worker) => {
    const work = join(directory, `work-${worker}`);
    mkdirSync(work);
    const step = await openSteps({ forge, receiver, latencies, work, name: `worker-${worker}` });
    for (let at = worker; performance.now() < endMs; at++) await step(at);
  });
  await Promise.all(loops);
  const samples = memory.stop();
  for (const until = performance.now() + ARRIVAL_MS; receiver.pending() > 0;) {
    if (performance.now() > until) break;
    await pause(200);
  }

  console.log(`\n${formatLatencies(latencies)}\n\n${formatMemory(samples, minutes)}`);
  const complaints = [
    ...findGrowth(samples),
    ...service.errors().map((line) => `the service logged an error: ${line}`),
    ...(receiver.pending() > 0 ? [`${receiver.pending()} webhooks did not arrive`] : []),
  ];
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) process.exitCode = 1;
  else console.log("\nmemory is flat after the warm-up, and no error was logged");
}
