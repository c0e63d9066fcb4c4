/**
 * `npm run bench:events`: the delay from a change until its webhooks arrive.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { formatBursts, checkBursts, measureBursts } from "./events/burst.ts";
import { openEventForge } from "./events/forge.ts";
import {
  mapConcurrently,
  makeRepositoryWithHooks,
  type Measured,
  measureAlone,
  measureCrowd,
  measurePushes,
  measureRow,
  warmUp,
} from "./events/measure.ts";
import { parseOptions } from "./events/options.ts";
import { openReceiver } from "./events/receiver.ts";
import { compare, formatReports, type Report } from "./events/report.ts";
import { measureSimulator } from "./events/simulator.ts";
import { stopGit } from "./git/git.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";
import { formatInteger } from "./support/table.ts";

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { isBurstOnly, bursts, sizes, crowd, hanging } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  await track({ close: stopGit });
  // Before the service, since it counts another workerd as its own.
  const simulator = await measureSimulator(join(directory, "simulator"));
  const receiver = await track(openReceiver());
  const forge = await track(openEventForge(join(directory, "data")));
  const setup = { forge, receiver };

  const reports: Report[] = [];
  const ratios: string[] = [];
  const note = (name: string, measured: Measured): Measured => {
    reports.push({ name, measured });
    console.log(`measured: ${name}, after ${(performance.now() / 1000).toFixed(0)} s`);
    return measured;
  };

  await makeRepositoryWithHooks(setup, "warm-up", 1);
  await warmUp(setup, "warm-up");

  const measuredBursts = await measureBursts(setup, bursts);
  console.log(`\n${formatBursts(measuredBursts, simulator)}\n`);
  for (const line of checkBursts(measuredBursts)) console.log(line);
  if (isBurstOnly) return;

  // The cost of a change without hooks.
  await makeRepositoryWithHooks(setup, "hooks-0", 0);
  const withoutHooks = { events: sizes[0]?.events ?? 0, deliveries: 0 };
  note("no hook, in a row", await measureRow(setup, "hooks-0", withoutHooks));

  let first: Measured | undefined;
  for (const { hooks, events } of sizes) {
    const repository = `hooks-${hooks}`;
    const name = hooks === 1 ? "1 hook" : `${formatInteger(hooks)} hooks`;
    await makeRepositoryWithHooks(setup, repository, hooks);
    const count = { events, deliveries: hooks };
    const alone = note(`${name}, alone`, await measureAlone(setup, repository, count));
    note(`${name}, in a row`, await measureRow(setup, repository, count));
    if (first) ratios.push(compare(`${name}, alone, to 1 hook, alone`, alone, first));
    first ??= alone;
  }

  const names = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
  const repositories = names("crowd", crowd.repositories);
  await mapConcurrently(repositories, 4, (repository) =>
    makeRepositoryWithHooks(setup, repository, 1),
  );
  const crowded = await measureCrowd(setup, repositories, crowd.events);
  note(`${crowd.repositories} repositories at once`, crowded);
  if (first) {
    ratios.push(
      compare(`${crowd.repositories} repositories at once, to 1 hook, alone`, crowded, first),
    );
  }
  const pushed = names("pushed", crowd.pushes);
  await mapConcurrently(pushed, 4, (repository) => makeRepositoryWithHooks(setup, repository, 1));
  note(`${crowd.pushes} pushes by git at once`, await measurePushes(setup, pushed, directory));

  // The same number of responding receivers in both cases.
  const { hooks, events } = hanging;
  const count = { events, deliveries: hooks - 1 };
  await makeRepositoryWithHooks(setup, "all-answer", hooks - 1);
  await makeRepositoryWithHooks(setup, "one-hangs", hooks, true);
  const withoutHanging = note(`${hooks - 1} hooks`, await measureAlone(setup, "all-answer", count));
  const withHanging = await measureAlone(setup, "one-hangs", count);
  note(`${hooks - 1} hooks beside one that hangs`, withHanging);
  ratios.push(
    compare(
      `${hooks - 1} hooks beside one that hangs, to the same without it`,
      withHanging,
      withoutHanging,
    ),
  );

  console.log(`\n${formatReports(reports)}\n`);
  for (const ratio of ratios) console.log(ratio);
}
