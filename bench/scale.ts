/**
 * `npm run bench:scale`: a simulation of a day of a forge with ten million repositories.
 *
 * Which resource of the platform saturates first, how many databases the load needs, and what a month costs.
 * bench/README.md explains the numbers.
 */
import { readFileSync } from "node:fs";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { billOf } from "./scale/bill.ts";
import { type Inputs, readCosts, readInputs } from "./scale/inputs/read.ts";
import { describeLayout, type Layout, SHARD_KEYS, TODAY } from "./scale/layout.ts";
import { measureRequests } from "./scale/measure/requests.ts";
import { measureTables } from "./scale/measure/tables.ts";
import { parseOptions, type Options } from "./scale/options.ts";
import { dailyRows, type Planned, planShards } from "./scale/plan.ts";
import { MEASURE_COMMAND, readFigures, recordCosts, toCosts } from "./scale/record-costs.ts";
import {
  describeDay,
  formatBill,
  formatDeliveries,
  formatLayouts,
  formatResponses,
  formatScales,
  formatUse,
} from "./scale/report.ts";
import { PEAK, type SimulationResult } from "./scale/result.ts";
import { simulate } from "./scale/simulate.ts";
import { Storage } from "./scale/storage.ts";
import { stopGit } from "./git/git.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options.from !== undefined) {
    recordCosts(readCosts(), readFigures(readFileSync(options.from, "utf8")));
    return;
  }
  if (options.measures) await measure(resources);
  else simulateAll(options);
}

async function measure(resources: Resources): Promise<void> {
  console.log(describeMachine());
  await resources.track({ close: stopGit });
  await buildAssets();
  await buildWorker();
  const measured = [
    ...(await measureTables(resources.directory)),
    ...(await measureRequests(resources)),
  ];
  recordCosts(readCosts(), toCosts(measured, MEASURE_COMMAND));
  console.log(`${measured.length} figures recorded`);
}

function simulateAll({ changes, isCalm, seed, sampleSeconds, scales, shards }: Options): void {
  const inputs = readInputs(changes);
  const storage = new Storage(inputs);
  // Layouts are compared without the bursts, of which the plan alone is shown.
  const calm: Inputs = { ...inputs, workload: { ...inputs.workload, bursts: [] } };
  const run = (layout: Layout, scale = 1, from = calm): SimulationResult => {
    // As many simulated requests at each scale.
    const sampleMs = (1000 * sampleSeconds) / Math.max(1, scale);
    return simulate(from, { layout, scale, seed, sampleMs });
  };
  const withSizes = (layout: Layout): Planned => {
    const result = run(layout);
    return { layout, result, sizes: storage.sizesOf(layout, dailyRows(result)) };
  };
  const print = (title: string, text: string): void => console.log(`\n## ${title}\n\n${text}`);

  const today = [{ ...TODAY, hasReplicas: false }, TODAY];
  print(
    "One database, as the load grows",
    formatScales(today.flatMap((layout) => scales.map((scale) => run(layout, scale)))),
  );

  const compared = shards.map((count) => withSizes({ ...TODAY, shards: count }));
  print("Shards by repository, one first database", formatLayouts(inputs, compared));
  const largest = Math.max(...shards);
  const keys = SHARD_KEYS.map((key) => withSizes({ ...TODAY, shards: largest, key }));
  print(`${largest} shards, by key`, formatLayouts(inputs, keys));

  const planned = planShards(inputs, storage, { ...TODAY, shards: 1 }, run);
  print("Doubling what is above 60 %", formatLayouts(inputs, planned));
  const plan = planned.at(-1);
  if (!plan) throw new Error("no layout was tried");
  print(
    "The plan, as the load grows",
    formatScales(
      scales
        .filter((scale) => scale >= 1)
        .map((scale) => (scale === 1 ? plan.result : run(plan.layout, scale))),
    ),
  );

  const day = isCalm ? plan.result : run(plan.layout, 1, inputs);
  print(`A day with its bursts, ${describeLayout(plan.layout)}`, describeDay(day));
  print("At the peak", formatUse(day, PEAK));
  for (const { name } of isCalm ? [] : inputs.workload.bursts)
    print(`Burst: ${name}`, formatUse(day, name));
  print("Response times", formatResponses(day));
  print("Deliveries", formatDeliveries(day));
  const bill = billOf(inputs, day.totals, plan.sizes);
  print(`A month, ${describeLayout(plan.layout)}`, formatBill(bill));
  const { arrived, completed, refused, sentAgain } = day;
  console.log(
    `\n${arrived} simulated, ${completed} completed, ${refused} refused, ${sentAgain} messages sent again`,
  );
}
