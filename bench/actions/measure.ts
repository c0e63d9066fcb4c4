import { setTimeout as sleep } from "node:timers/promises";

import type { Side } from "../peer/side.ts";
import { treeCpuSeconds } from "../support/process-tree.ts";
import { percentile } from "../support/statistics.ts";
import type { Options } from "./options.ts";
import { openRunner, type SimulatedRunner } from "./runner.ts";

/** A service that is measured, with its address. */
export type ActionsSide = Side & { origin: string };

/** What the work of runners costs on one side. */
export type MeasuredActions = {
  /** From the answer to a push to a runner that has its task, asking all the time. */
  taskP50Ms: number;
  /** Of all jobs that became ready at once. */
  handOutSeconds: number;
  tasksPerSecond: number;
  taskCpuMs: number;
  /** Of a piece of 1,000 rows. */
  pieceP50Ms: number;
  rowsPerSecond: number;
  thousandRowsCpuMs: number;
  /** Share of a core while runners ask and there is nothing to do. */
  idleShare: number;
};

const ROWS = 1000;
/** How often a runner asks, in milliseconds. */
const POLL_MS = 2000;
/** A task that has not come by then never comes. */
const PATIENCE_MS = 60_000;
const PUSHED = "pushed";
const MATRIX = "matrix";
/** Jobs of a run; a run may have 256. */
const MATRIX_JOBS_MAX = 250;

const workflowOf = (trigger: string, jobs: number): string => `on: ${trigger}
jobs:
  work:
    runs-on: bench
    strategy:
      matrix:
        leg: [${Array.from({ length: jobs }, (_, leg) => leg).join(", ")}]
    steps:
      - run: "true"
`;

/** Measures one side, whose administrator owns what is made. */
export async function measureActions(
  side: ActionsSide,
  owner: string,
  options: Options,
): Promise<MeasuredActions> {
  const cpu = (): number => treeCpuSeconds(side.pid());
  const open = async (name: string, workflow: string) => {
    await side.send("POST", "/user/repos", { name, auto_init: true, default_branch: "main" });
    const repository = `${owner}/${name}`;
    await side.send("PATCH", `/repos/${repository}`, { has_actions: true });
    await write(repository, ".gitea/workflows/bench.yml", workflow);
    return repository;
  };
  const write = (repository: string, path: string, text: string): Promise<unknown> =>
    side.send("POST", `/repos/${repository}/contents/${path}`, {
      message: path,
      content: Buffer.from(text).toString("base64"),
    });

  const pushed = await open(PUSHED, workflowOf("push", 1));
  const runner = await openRunner(side, pushed, "pushes");
  const waits: number[] = [];
  await finish(runner, await waitForTask(runner));
  for (let push = 0; push < options.pushes; push += 1) {
    await write(pushed, `file-${push}`, String(push));
    const started = performance.now();
    const task = await waitForTask(runner);
    waits.push(performance.now() - started);
    await finish(runner, task);
  }

  await write(pushed, "log", "log");
  const logged = await waitForTask(runner);
  const pieces: number[] = [];
  const rows = Array.from({ length: ROWS }, (_, row) => `row ${row}: compiled src/file-${row}.ts`);
  const [logCpu, logStarted] = [cpu(), performance.now()];
  for (let piece = 0; piece < options.pieces; piece += 1) {
    const started = performance.now();
    await runner.updateLog(logged, piece * ROWS, rows);
    pieces.push(performance.now() - started);
  }
  const [logCpuSeconds, logMs] = [cpu() - logCpu, performance.now() - logStarted];
  await finish(runner, logged);

  const runs = Math.ceil(options.jobs / MATRIX_JOBS_MAX);
  const legs = Math.ceil(options.jobs / runs);
  const jobs = runs * legs;
  const matrix = await open(MATRIX, workflowOf("workflow_dispatch", legs));
  const runners = await Promise.all(
    Array.from({ length: options.runners }, (_, at) => openRunner(side, matrix, `matrix-${at}`)),
  );
  for (let run = 0; run < runs; run += 1) {
    await side.send("POST", `/repos/${matrix}/actions/workflows/bench.yml/dispatches`, {
      ref: "main",
    });
  }
  const [leader] = runners;
  if (!leader) throw new Error("no runner was opened");
  const first = await waitForTask(leader);
  const [tasksCpu, tasksStarted] = [cpu(), performance.now()];
  const taken = new Set([first]);
  await finish(leader, first);
  await Promise.all(
    runners.map(async (each) => {
      while (taken.size < jobs && performance.now() - tasksStarted < 10 * PATIENCE_MS) {
        const { task } = await each.fetchTask("0");
        if (!task) continue;
        if (taken.has(task.id)) throw new Error(`${side.name}: task ${task.id} came twice`);
        taken.add(task.id);
        await finish(each, task.id);
      }
    }),
  );
  if (taken.size < jobs) throw new Error(`${side.name}: only ${taken.size} tasks came`);
  const [tasksCpuSeconds, tasksMs] = [cpu() - tasksCpu, performance.now() - tasksStarted];

  const idle = await Promise.all(
    Array.from({ length: options.idle }, (_, at) => openRunner(side, matrix, `idle-${at}`)),
  );
  const versions = await Promise.all(
    idle.map(async (each) => (await each.fetchTask("0")).tasksVersion),
  );
  await sleep(POLL_MS);
  const [idleCpu, idleStarted] = [cpu(), performance.now()];
  const end = idleStarted + options.seconds * 1000;
  await Promise.all(
    idle.map(async (each, at) => {
      await sleep((POLL_MS * at) / idle.length);
      while (performance.now() < end) {
        await each.fetchTask(versions[at] ?? "0");
        await sleep(POLL_MS);
      }
    }),
  );
  const idleShare = (1000 * (cpu() - idleCpu)) / (performance.now() - idleStarted);

  return {
    taskP50Ms: percentile(
      waits.toSorted((a, b) => a - b),
      0.5,
    ),
    handOutSeconds: tasksMs / 1000,
    tasksPerSecond: (1000 * jobs) / tasksMs,
    taskCpuMs: (1000 * tasksCpuSeconds) / jobs,
    pieceP50Ms: percentile(
      pieces.toSorted((a, b) => a - b),
      0.5,
    ),
    rowsPerSecond: (1000 * ROWS * options.pieces) / logMs,
    thousandRowsCpuMs: (1000 * logCpuSeconds) / options.pieces,
    idleShare,
  };
}

/** Asks until there is a task. @returns Its id. */
async function waitForTask(runner: SimulatedRunner): Promise<string> {
  const started = performance.now();
  while (performance.now() - started < PATIENCE_MS) {
    const { task } = await runner.fetchTask("0");
    if (task) return task.id;
    await sleep(20);
  }
  throw new Error(`no task within ${PATIENCE_MS} ms`);
}

async function finish(runner: SimulatedRunner, id: string): Promise<void> {
  await runner.updateTask(id, "RESULT_UNSPECIFIED");
  await runner.updateTask(id, "RESULT_SUCCESS");
}
