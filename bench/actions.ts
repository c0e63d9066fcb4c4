/**
 * `npm run bench:actions -- --gitea <program>`: the work of runners beside a real Gitea: from a
 * push to a task, tasks and log rows per second, and runners that wait. Without a Gitea, the
 * service alone. The runners are simulated: they call as a runner does, and run nothing.
 *
 * Runs the service as `npm start` does and Gitea with SQLite, both with their state in a temporary
 * directory. bench/README.md explains the numbers.
 */
import { join } from "node:path";

import { type ActionsSide, type MeasuredActions, measureActions } from "./actions/measure.ts";
import { parseOptions } from "./actions/options.ts";
import { openGitea } from "./peer/gitea.ts";
import { openSide } from "./peer/side.ts";
import { describeMachine } from "./support/machine.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openStartedService } from "./support/started-service.ts";
import { formatCells } from "./support/table.ts";

async function bench({ directory, track, release }: Resources): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  const measured: MeasuredActions[] = [];
  const service = await track(openStartedService(join(directory, "data")));
  const own = {
    name: "Edgeforge",
    origin: new URL(service.origin),
    pid: service.pid,
    administrator: { name: "root", password: service.password },
  };
  measured.push(await measure(own));
  await release(service);
  if (options.gitea !== undefined) {
    const { gitea: program, giteaStatic } = options;
    const gitea = await track(openGitea(join(directory, "gitea"), { gitea: program, giteaStatic }));
    console.log(`beside Gitea ${gitea.version}`);
    measured.push(await measure({ name: "Gitea", ...gitea }));
  }
  console.log(`\n${formatCells(["", "Edgeforge", "Gitea", "ratio"], rowsOf(measured))}`);

  async function measure(started: Parameters<typeof openSide>[0]): Promise<MeasuredActions> {
    const side: ActionsSide = { ...(await openSide(started)), origin: started.origin.href };
    const result = await measureActions(side, started.administrator.name, options);
    side.close();
    console.log(`measured: ${side.name}`);
    return result;
  }
}

const NAMES: Readonly<Record<keyof MeasuredActions, string>> = {
  taskP50Ms: "from a push to its task, p50 ms",
  handOutSeconds: "all jobs of a matrix, s",
  tasksPerSecond: "tasks per second",
  taskCpuMs: "CPU ms per task",
  pieceP50Ms: "1,000 log rows, p50 ms",
  rowsPerSecond: "log rows per second",
  thousandRowsCpuMs: "CPU ms per 1,000 log rows",
  idleShare: "runners that wait, share of a core",
};

function rowsOf([own, peer]: readonly MeasuredActions[]): string[][] {
  if (!own) throw new Error("the service was not measured");
  return (Object.keys(NAMES) as (keyof MeasuredActions)[]).map((key) => [
    NAMES[key],
    own[key].toPrecision(3),
    peer ? peer[key].toPrecision(3) : "-",
    peer ? (own[key] / peer[key]).toFixed(2) : "-",
  ]);
}

await withResources(bench);
