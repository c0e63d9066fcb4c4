/**
 * `npm run bench:scale`: a simulation of a day of a forge with ten million repositories.
 *
 * Which resource of the platform saturates first, how large the database becomes, and what a month
 * costs. bench/README.md explains the numbers.
 */
import { readFileSync } from "node:fs";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { billOf } from "./scale/bill.ts";
import { type Inputs, readCosts, readInputs } from "./scale/inputs/read.ts";
import { measureRequests } from "./scale/measure/requests.ts";
import { measureTables } from "./scale/measure/tables.ts";
import { parseOptions, type Options } from "./scale/options.ts";
import { MEASURE_COMMAND, readFigures, recordCosts, toCosts } from "./scale/record-costs.ts";
import {
  describeDay,
  describeSize,
  formatBill,
  formatDeliveries,
  formatResponses,
  formatScales,
  formatUse,
} from "./scale/report.ts";
import { PEAK, type SimulationResult } from "./scale/result.ts";
import { simulate } from "./scale/simulate.ts";
import { dailyRows, databaseBytes } from "./scale/storage.ts";
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

function simulateAll({ changes, isCalm, seed, sampleSeconds, scales }: Options): void {
  const inputs = readInputs(changes);
  // Scales are compared without the bursts, of which the day alone is shown.
  const calm: Inputs = { ...inputs, workload: { ...inputs.workload, bursts: [] } };
  const run = (hasReplicas: boolean, scale: number, from = calm): SimulationResult => {
    // As many simulated requests at each scale.
    const sampleMs = (1000 * sampleSeconds) / Math.max(1, scale);
    return simulate(from, { hasReplicas, scale, seed, sampleMs });
  };
  const print = (title: string, text: string): void => console.log(`\n## ${title}\n\n${text}`);

  const compared = [false, true].flatMap((hasReplicas) =>
    scales.map((scale) => run(hasReplicas, scale)),
  );
  print("As the load grows", formatScales(compared));

  const day = run(true, 1, isCalm ? calm : inputs);
  const bytes = databaseBytes(inputs, dailyRows(day));
  print("A day, with replicas", `${describeDay(day)}\n${describeSize(inputs, bytes)}`);
  print("At the peak", formatUse(day, PEAK));
  for (const { name } of isCalm ? [] : inputs.workload.bursts)
    print(`Burst: ${name}`, formatUse(day, name));
  print("Response times", formatResponses(day));
  print("Deliveries", formatDeliveries(day));
  print("A month", formatBill(billOf(inputs, day.totals, bytes)));
  const { arrived, completed, refused, sentAgain } = day;
  console.log(
    `\n${arrived} simulated, ${completed} completed, ${refused} refused, ${sentAgain} messages sent again`,
  );
}
