/**
 * `npm run bench:api`: how fast the API answers from large tables, and what it asks of D1.
 *
 * The service is the one of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { openBare } from "./api/bare.ts";
import { casesOf, type Case } from "./api/cases.ts";
import { ask, openClient } from "./api/client.ts";
import { judgeGrowth, JUDGED_SCALE_MIN, type Growth } from "./api/growth.ts";
import { load } from "./api/load.ts";
import { parseOptions } from "./api/options.ts";
import { populationOf, type Population } from "./api/population.ts";
import { formatTable, type Row } from "./api/table.ts";
import { CONCURRENCY, time } from "./api/timing.ts";
import { countUsage, openJournal, type Usage } from "./api/usage.ts";
import { describeMachine } from "./support/machine.ts";
import { readCpuTime } from "./support/process.ts";
import { openService } from "./support/service.ts";
import { onStage, type Stage } from "./support/stage.ts";

await onStage(bench);

async function bench(stage: Stage): Promise<void> {
  const { scale, seconds } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();

  const population = populationOf(scale);
  const cases = casesOf(population);
  const growths = await measureGrowth(stage, populationOf(scale / 10), population);
  const rows = await measureTime(stage, cases, growths, seconds);
  console.log(
    `\nreq/s: ${CONCURRENCY} requests at once; p50 and p99: one at a time; ${seconds} s each\n`,
  );
  console.log(formatTable(rows));

  if (scale < JUDGED_SCALE_MIN) {
    console.log(`\nthe growth of rows read is judged from --scale ${JUDGED_SCALE_MIN} on`);
    return;
  }
  const complaints = cases.flatMap((story, at) => judgeGrowth(story, present(growths[at])) ?? []);
  for (const complaint of complaints) console.error(`\n${complaint}`);
  if (complaints.length > 0) process.exitCode = 1;
  else console.log("\nno case but the deep page reads more rows because the tables are larger");
}

/** Fills the tables in two steps, and counts after each what the cases ask of D1. */
async function measureGrowth(
  { directory, opened, closed }: Stage,
  small: Population,
  full: Population,
): Promise<Growth[]> {
  const journal = openJournal();
  const service = await opened(
    openService(join(directory, "data"), { vars: { LOG_D1_ROWS: "true" }, onLog: journal.note }),
  );
  const client = openClient(service.origin);
  const count = async (population: Population): Promise<Usage[]> => {
    const usages: Usage[] = [];
    for (const story of casesOf(population)) {
      usages.push(await countUsage(client, journal, story));
    }
    return usages;
  };

  const db = await service.database();
  await reportTime(small, () => load(db, small));
  const before = await count(small);
  await reportTime(full, () => load(db, full, small));
  const after = await count(full);

  client.close();
  await closed(service);
  return before.map((usage, at) => ({ small: usage, full: present(after[at]) }));
}

/** Times each case, and right after it the bare route with answers of the same size. */
async function measureTime(
  { directory, opened, closed }: Stage,
  cases: Case[],
  growths: Growth[],
  seconds: number,
): Promise<Row[]> {
  const bareServer = await opened(openBare(join(directory, "bare")));
  const service = await opened(openService(join(directory, "data")));
  const [bareClient, client] = [openClient(bareServer.origin), openClient(service.origin)];

  const rows: Row[] = [];
  for (const [at, story] of cases.entries()) {
    const { bytes } = await ask(client, story);
    const timing = await time(client, story, seconds, () => cpuSecondsOf(service.pid()));
    const next = () => ({ ...story.next(), path: `/${bytes}` });
    const bare = await time(bareClient, { ...story, status: 200, next }, seconds);
    rows.push({ name: story.name, bytes, timing, bare, growth: present(growths[at]) });
    console.log(`measured: ${story.name}`);
  }

  bareClient.close();
  client.close();
  await closed(bareServer);
  await closed(service);
  return rows;
}

/** Processor time of the service so far. NaN where there is no /proc to read it from. */
function cpuSecondsOf(pid: number): number {
  return process.platform === "linux" ? readCpuTime(pid).own : Number.NaN;
}

async function reportTime(population: Population, work: () => Promise<void>): Promise<void> {
  const from = performance.now();
  await work();
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  const [users, repositories, stars] = Object.values(population).map((n) => n.toLocaleString("en"));
  console.log(
    `loaded ${users} users, ${repositories} repositories and ${stars} stars: ${seconds} s`,
  );
}

/** For lists that run in step. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a case has no measurement");
  return value;
}
