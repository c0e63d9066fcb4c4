/**
 * `npm run bench:issues`: response times and D1 usage of issues in one large repository.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { ask, openClient } from "./api/client.ts";
import { findGrowthFault, type Growth } from "./api/growth.ts";
import { time } from "./api/timing.ts";
import { countUsage, openJournal, type Usage } from "./api/usage.ts";
import { casesOf, type IssueCase } from "./issues/cases.ts";
import { load } from "./issues/load.ts";
import { parseOptions } from "./issues/options.ts";
import { COMMENTS_PER_ISSUE } from "./issues/population.ts";
import { describeMachine } from "./support/machine.ts";
import { readCpuTime } from "./support/process.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openService } from "./support/service.ts";
import { formatCells, formatInteger } from "./support/table.ts";

const COLUMNS = [
  "case",
  "req/s",
  "CPU ms",
  "p50 ms",
  "p99 ms",
  "rounds",
  "rows read",
  "at 1/10",
  "bound",
  "bytes",
];

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const { issues, seconds } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();

  const cases = casesOf(issues);
  const growths = await measureGrowth(resources, issues);
  const rows = await measureTime(resources, cases, growths, seconds);
  console.log("");
  console.log(formatCells(COLUMNS, rows));

  const complaints = cases.flatMap((each, at) => findFault(each, growths[at]) ?? []);
  for (const complaint of complaints) console.error(`\n${complaint}`);
  if (complaints.length > 0) process.exitCode = 1;
  else console.log("\nno case reads more rows of a larger repository than its bound");
}

/**
 * @returns A complaint if a case reads more rows of a larger repository, beyond its bound if it has
 *   one.
 */
function findFault(each: IssueCase, growth: Growth | undefined): string | undefined {
  if (!growth) throw new Error("a case has no measurement");
  const isBounded = each.rowsMax !== undefined && growth.full.rowsRead <= each.rowsMax;
  return isBounded ? undefined : findGrowthFault(each, growth);
}

/** Fills the repository in two steps, and counts the D1 usage of the cases after each. */
async function measureGrowth(
  { directory, track, release }: Resources,
  issues: number,
): Promise<Growth[]> {
  const journal = openJournal();
  const service = await track(
    openService(join(directory, "data"), { vars: { LOG_D1_ROWS: "true" }, onLog: journal.note }),
  );
  const client = openClient(service.origin);
  const db = await service.database();
  const count = async (to: number, from: number): Promise<Usage[]> => {
    const startedAt = performance.now();
    await load(db, to, from);
    const loaded = ((performance.now() - startedAt) / 1000).toFixed(1);
    const comments = formatInteger(to * COMMENTS_PER_ISSUE);
    console.log(`loaded ${formatInteger(to)} issues and ${comments} comments: ${loaded} s`);
    const usages: Usage[] = [];
    for (const each of casesOf(to)) usages.push(await countUsage(client, journal, each));
    return usages;
  };
  const before = await count(issues / 10, 0);
  const after = await count(issues, issues / 10);
  client.close();
  await release(service);
  return before.map((small, at) => ({ small, full: after[at] ?? small }));
}

async function measureTime(
  { directory, track, release }: Resources,
  cases: readonly IssueCase[],
  growths: readonly Growth[],
  seconds: number,
): Promise<string[][]> {
  const service = await track(openService(join(directory, "data")));
  const client = openClient(service.origin);
  const rows: string[][] = [];
  for (const [at, each] of cases.entries()) {
    const { bytes } = await ask(client, each);
    const { perSecond, cpuMs, p50Ms, p99Ms } = await time(client, each, seconds, () =>
      process.platform === "linux" ? readCpuTime(service.pid()).own : Number.NaN,
    );
    const { small, full } = growths[at] ?? {};
    rows.push([
      each.name,
      formatInteger(perSecond),
      Number.isNaN(cpuMs) ? "-" : cpuMs.toFixed(2),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      formatInteger(full?.rounds ?? Number.NaN),
      formatInteger(full?.rowsRead ?? Number.NaN),
      formatInteger(small?.rowsRead ?? Number.NaN),
      each.isDeep ? "deep" : each.rowsMax === undefined ? "-" : formatInteger(each.rowsMax),
      formatInteger(bytes),
    ]);
    console.log(`measured: ${each.name}`);
  }
  client.close();
  await release(service);
  return rows;
}
