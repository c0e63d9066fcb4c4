/**
 * `npm run bench:events`: how long it takes from a change until webhooks are told of it.
 *
 * The service is the one of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { openEventForge } from "./events/forge.ts";
import {
  inLanes,
  makeHooked,
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
import { stopGit } from "./git/git.ts";
import { describeMachine } from "./support/machine.ts";
import { onStage, type Stage } from "./support/stage.ts";
import { whole } from "./support/table.ts";

await onStage(bench);

async function bench({ directory, opened }: Stage): Promise<void> {
  const { sizes, crowd, hanging } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  await opened({ close: stopGit });
  const receiver = await opened(openReceiver());
  const forge = await opened(openEventForge(join(directory, "data")));
  const stand = { forge, receiver };

  const reports: Report[] = [];
  const ratios: string[] = [];
  const note = (name: string, measured: Measured): Measured => {
    reports.push({ name, measured });
    console.log(`measured: ${name}, after ${(performance.now() / 1000).toFixed(0)} s`);
    return measured;
  };

  await makeHooked(stand, "warm-up", 1);
  await warmUp(stand, "warm-up");
  // What a change takes where nobody is told of it.
  await makeHooked(stand, "hooks-0", 0);
  const silent = { events: sizes[0]?.events ?? 0, deliveries: 0 };
  note("no hook, in a row", await measureRow(stand, "hooks-0", silent));

  let first: Measured | undefined;
  for (const { hooks, events } of sizes) {
    const repository = `hooks-${hooks}`;
    const name = hooks === 1 ? "1 hook" : `${whole(hooks)} hooks`;
    await makeHooked(stand, repository, hooks);
    const count = { events, deliveries: hooks };
    const alone = note(`${name}, alone`, await measureAlone(stand, repository, count));
    note(`${name}, in a row`, await measureRow(stand, repository, count));
    if (first) ratios.push(compare(`${name}, alone, to 1 hook, alone`, alone, first));
    first ??= alone;
  }

  const names = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
  const repositories = names("crowd", crowd.repositories);
  await inLanes(repositories, 4, (repository) => makeHooked(stand, repository, 1));
  const crowded = await measureCrowd(stand, repositories, crowd.events);
  note(`${crowd.repositories} repositories at once`, crowded);
  if (first) {
    ratios.push(
      compare(`${crowd.repositories} repositories at once, to 1 hook, alone`, crowded, first),
    );
  }
  const pushed = names("pushed", crowd.pushes);
  await inLanes(pushed, 4, (repository) => makeHooked(stand, repository, 1));
  note(`${crowd.pushes} pushes by git at once`, await measurePushes(stand, pushed, directory));

  // The same number of receivers that answer, on both sides.
  const { hooks, events } = hanging;
  const count = { events, deliveries: hooks - 1 };
  await makeHooked(stand, "all-answer", hooks - 1);
  await makeHooked(stand, "one-hangs", hooks, true);
  const calm = note(`${hooks - 1} hooks`, await measureAlone(stand, "all-answer", count));
  const hung = await measureAlone(stand, "one-hangs", count);
  note(`${hooks - 1} hooks beside one that hangs`, hung);
  ratios.push(compare(`${hooks - 1} hooks beside one that hangs, to without it`, hung, calm));

  console.log(`\n${formatReports(reports)}\n`);
  for (const ratio of ratios) console.log(ratio);
}
