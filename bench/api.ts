/**
 * `npm run bench:api`: response times of the API with large tables, and its D1 usage.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { openBare } from "./api/bare.ts";
import { casesOf, type Case } from "./api/cases.ts";
import { ask, openClient } from "./api/client.ts";
import { findGrowthFault, CHECKED_SCALE_MIN, type Growth } from "./api/growth.ts";
import { load } from "./api/load.ts";
import { parseOptions } from "./api/options.ts";
import { populationOf, type Population } from "./api/population.ts";
import { formatTable, type Row } from "./api/table.ts";
import { CONCURRENCY, time } from "./api/timing.ts";
import { countUsage, openJournal, type Usage } from "./api/usage.ts";
import { describeMachine } from "./support/machine.ts";
import { readCpuTime } from "./support/process.ts";
import { openService } from "./support/service.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const { scale, seconds } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();

  const population = populationOf(scale);
  const cases = casesOf(population);
  const growths = await measureGrowth(resources, populationOf(scale / 10), population);
  const rows = await measureTime(resources, cases, growths, seconds);
  console.log(
    `\nreq/s: ${CONCURRENCY} requests at once; p50 and p99: one at a time; ${seconds} s each\n`,
  );
  console.log(formatTable(rows));

  if (scale < CHECKED_SCALE_MIN) {
    console.log(`\nthe growth of rows read is checked from --scale ${CHECKED_SCALE_MIN} on`);
    return;
  }
  const complaints = cases.flatMap(
    (apiCase, at) => findGrowthFault(apiCase, present(growths[at])) ?? [],
  );
  for (const complaint of complaints) console.error(`\n${complaint}`);
  if (complaints.length > 0) process.exitCode = 1;
  else console.log("\nno case except the deep page reads more rows from larger tables");
}

/** Fills the tables in two steps, and counts the D1 usage of the cases after each step. */
async function measureGrowth(
  { directory, track, release }: Resources,
  small: Population,
  full: Population,
): Promise<Growth[]> {
  const journal = openJournal();
  const service = await track(
    openService(join(directory, "data"), { vars: { LOG_D1_ROWS: "true" }, onLog: journal.note }),
  );
  const client = openClient(service.origin);
  const count = async (population: Population): Promise<Usage[]> => {
    const usages: Usage[] = [];
    for (const apiCase of casesOf(population)) {
      usages.push(await countUsage(client, journal, apiCase));
    }
    return usages;
  };

  const db = await service.database();
  await reportTime(small, () => load(db, small));
  const before = await count(small);
  await reportTime(full, () => load(db, full, small));
  const after = await count(full);

  client.close();
  await release(service);
  return before.map((usage, at) => ({ small: usage, full: present(after[at]) }));
}

/** Times each case, followed by the bare route with responses of the same size. */
async function measureTime(
  { directory, track, release }: Resources,
  cases: Case[],
  growths: Growth[],
  seconds: number,
): Promise<Row[]> {
  const bareServer = await track(openBare(join(directory, "bare")));
  const service = await track(openService(join(directory, "data")));
  const [bareClient, client] = [openClient(bareServer.origin), openClient(service.origin)];

  const rows: Row[] = [];
  for (const [at, apiCase] of cases.entries()) {
    const { bytes } = await ask(client, apiCase);
    const timing = await time(client, apiCase, seconds, () => cpuSecondsOf(service.pid()));
    const next = () => ({ ...apiCase.next(), path: `/${bytes}` });
    const bare = await time(bareClient, { ...apiCase, status: 200, next }, seconds);
    rows.push({ name: apiCase.name, bytes, timing, bare, growth: present(growths[at]) });
    console.log(`measured: ${apiCase.name}`);
  }

  bareClient.close();
  client.close();
  await release(bareServer);
  await release(service);
  return rows;
}

/** CPU time of the service so far; NaN without /proc. */
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

/** Asserts that a list element of the same index exists. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a case has no measurement");
  return value;
}
