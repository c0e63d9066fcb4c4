import { Code, ConnectError } from "@connectrpc/connect";
import { and, asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { Result } from "../../src/actions-runner/messages/runner/v1/messages_pb.ts";
import { events, workflowLogPieces, workflowTasks } from "../../src/db/schema/index.ts";
import { closeLogs, endSilentTasks } from "../../src/domain/actions/tasks/end-tasks.ts";
import { readLog } from "../../src/domain/actions/tasks/read-log.ts";
import { makeRandom } from "../git/support/random.ts";
import {
  actionsCtx,
  findTask,
  makeRunner,
  runnerClient,
  type TestRunner,
} from "../support/actions.ts";
import { db } from "../support/db.ts";
import { only } from "../../src/lib/only.ts";
import { seedsOf } from "../support/sample.ts";
import { jobsOf, makePushed, runsOf, statesOf } from "../support/workflow-runs.ts";

const FILE = `
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: make }, { run: make test }] }
  after: { needs: build, runs-on: linux, steps: [{ run: make pack }] }
  always: { needs: build, if: always(), runs-on: linux, steps: [{ run: make clean }] }
`;

const MINUTE = 60_000;
const ROWS = ["one", "two", "three", "four", "five"];
const OUTPUTS = { version: "1.2", place: "north" };

type Client = ReturnType<typeof runnerClient>;

/** A call of a runner: rows of its log up to one, or the state of its steps. */
type Call =
  | { readonly rows: number; readonly isLast?: boolean }
  | { readonly ended: number; readonly started: number; readonly isEnd?: boolean };

/** What a runner says of a job, in the order of those of the field. */
const CALLS: readonly Call[] = [
  { rows: 0 },
  { started: 0, ended: 0 },
  { rows: 1 },
  { started: 1, ended: 0 },
  { rows: 3 },
  { started: 2, ended: 1 },
  { rows: 5, isLast: true },
  { rows: 5, isLast: true },
  { started: 2, ended: 2, isEnd: true },
];

/** What happens to a call; "answer lost" is the same as one that is sent twice. */
const FAULTS = [
  "none",
  "lost",
  "twice",
  "at once",
  "again after the next",
  "after the next",
] as const;
type Fault = (typeof FAULTS)[number];

/** A runner as those of the field are: it sends rows again that nobody has acknowledged. */
class ModelRunner {
  #acknowledged = 0;
  readonly #client: Client;
  readonly #taskId: bigint;

  constructor(client: Client, taskId: bigint) {
    this.#client = client;
    this.#taskId = taskId;
  }

  /** A request as it is sent now: sent later, it is a late one. */
  prepare(call: Call): () => Promise<void> {
    const taskId = this.#taskId;
    if ("rows" in call) {
      const index = this.#acknowledged;
      const rows = ROWS.slice(index, call.rows).map((content) => ({ content }));
      const noMore = call.isLast ?? false;
      return async () => {
        const answer = await this.#client.updateLog({
          taskId,
          index: BigInt(index),
          rows,
          noMore,
        });
        const acknowledged = Number(answer.ackIndex);
        if (acknowledged > index + rows.length) throw new Error("rows that nobody has sent");
        this.#acknowledged = Math.max(this.#acknowledged, acknowledged);
      };
    }
    const { started, ended, isEnd } = call;
    const time = { seconds: BigInt(Math.floor(Date.now() / 1000)), nanos: 0 };
    const steps = Array.from({ length: started }, (_, at) => ({
      id: BigInt(at),
      startedAt: time,
      ...(at < ended && { result: Result.SUCCESS, stoppedAt: time }),
      logIndex: BigInt(at * 2),
      logLength: BigInt(at < ended ? 2 : 1),
    }));
    const outputs: Record<string, string> = isEnd ? OUTPUTS : ended > 0 ? { version: "1.2" } : {};
    const result = isEnd ? Result.SUCCESS : Result.UNSPECIFIED;
    return async () => {
      const state = { id: taskId, result, steps };
      const answer = await this.#client.updateTask({ state, outputs });
      const isConfirmed = Object.keys(outputs).every((name) => answer.sentOutputs.includes(name));
      if (!isConfirmed) throw new Error("an output that is not confirmed");
    };
  }

  /** Sends the last calls until they are answered, as a runner does that has not died. */
  async finish(): Promise<void> {
    while (this.#acknowledged < ROWS.length) await this.prepare({ rows: 5, isLast: true })();
    await this.prepare({ rows: 5, isLast: true })();
    await this.prepare({ started: 2, ended: 2, isEnd: true })();
  }
}

/** Sends all calls, each with its fault. */
async function send(model: ModelRunner, faults: readonly Fault[]): Promise<void> {
  let late: (() => Promise<void>)[] = [];
  for (const [at, call] of CALLS.entries()) {
    const request = model.prepare(call);
    const due = late;
    late = [];
    switch (faults[at] ?? "none") {
      case "lost":
        break;
      case "twice":
        await request();
        await request();
        break;
      case "at once":
        await Promise.all([request(), request()]);
        break;
      case "again after the next":
        await request();
        late.push(request);
        break;
      case "after the next":
        late.push(request);
        break;
      default:
        await request();
    }
    for (const each of due) await each();
  }
  for (const each of late) await each();
}

/** A run whose first job a runner has taken. */
async function makeTaken() {
  const { repo } = await makePushed({ ".gitea/workflows/ci.yml": FILE });
  const runner = await makeRunner({ repoId: repo.id });
  const client = runnerClient(runner);
  const run = only(await runsOf(repo));
  const { task } = await client.fetchTask({});
  if (!task) throw new Error("no task");
  return { repo, runner, client, run, taskId: Number(task.id) };
}

type Taken = Awaited<ReturnType<typeof makeTaken>>;

const logOf = async (taskId: number) =>
  (await readLog(actionsCtx(), { id: taskId }, { fromRow: 0, rowCount: 99 })).map(
    ({ text }) => text,
  );

/** What a job leaves behind, whatever happened on the way. */
async function readTrace({ run, repo, client, taskId }: Taken) {
  const task = await findTask(taskId);
  const pieces = await db
    .select()
    .from(workflowLogPieces)
    .where(eq(workflowLogPieces.taskId, taskId));
  const [job] = await jobsOf(run);
  const recorded = await db
    .select()
    .from(events)
    .where(and(eq(events.repoId, repo.id), eq(events.type, "workflow_job.changed")))
    .orderBy(asc(events.id));
  const states = await statesOf(run);
  return {
    task: { state: task.state, isLogClosed: task.isLogClosed, outputs: task.outputs },
    steps: task.steps.map(({ state, logIndex, logLength }) => [state, logIndex, logLength]),
    log: await logOf(taskId),
    rowCount: pieces.reduce((sum, { rowCount }) => sum + rowCount, 0),
    outputs: job?.outputs,
    states,
    recorded: recorded
      .filter(({ payload }) => payload["jobId"] === job?.id)
      .map(({ payload }) => payload["state"]),
    needs: (await client.fetchTask({ tasksVersion: 0n })).task?.needs["build"]?.outputs,
  };
}

/** The trace of the job if all went well. */
const SUCCESS = {
  task: { state: "success", isLogClosed: true, outputs: OUTPUTS },
  steps: [
    ["success", 0, 2],
    ["success", 2, 2],
  ],
  log: ROWS,
  rowCount: ROWS.length,
  outputs: OUTPUTS,
  states: { "": "waiting", build: "success", after: "waiting", always: "waiting" },
  recorded: ["waiting", "running", "success"],
  needs: OUTPUTS,
};

const later = (minutes: number) => actionsCtx(Date.now() + minutes * MINUTE);

/** Lets time pass without a word of the runner. */
async function fallSilent(): Promise<void> {
  for (const minutes of [3, 12]) {
    await endSilentTasks(later(minutes));
    await closeLogs(later(minutes + 6));
  }
}

beforeEach(async () => {
  await db
    .update(workflowTasks)
    .set({ state: "cancelled", isLogClosed: true })
    .where(eq(workflowTasks.state, "running"));
});

describe("a job", () => {
  it.each(
    CALLS.flatMap((call, at) =>
      FAULTS.slice(1).map((fault) => [at, JSON.stringify(call), fault] as const),
    ),
  )("is run once where call %d, %s, is %s", async (at, _, fault) => {
    const taken = await makeTaken();
    const model = new ModelRunner(taken.client, BigInt(taken.taskId));
    await send(
      model,
      CALLS.map((__, each) => (each === at ? fault : "none")),
    );
    await model.finish();
    await fallSilent();
    expect(await readTrace(taken)).toEqual(SUCCESS);
  });

  it.each(seedsOf(8, 200, "unreliable runners"))(
    "is run once where many calls go wrong: %d",
    async (seed) => {
      const random = makeRandom(seed);
      const taken = await makeTaken();
      const model = new ModelRunner(taken.client, BigInt(taken.taskId));
      const faults = CALLS.map(() => FAULTS[random.below(FAULTS.length)] ?? "none");
      await send(model, faults);
      await model.finish();
      expect(await readTrace(taken)).toEqual(SUCCESS);
    },
  );

  it("is run by the same runner that did not hear that it had it", async () => {
    const lost = await makeTaken();
    expect((await lost.client.fetchTask({ tasksVersion: 0n })).task).toBeUndefined();
    await endSilentTasks(later(3));
    expect(await findTask(lost.taskId)).toMatchObject({ state: "cancelled", isLogClosed: true });
    const { task } = await lost.client.fetchTask({ tasksVersion: 0n });
    const taken = { ...lost, taskId: Number(task?.id) };
    const model = new ModelRunner(taken.client, task?.id ?? 0n);
    await send(model, []);
    expect(await readTrace(taken)).toEqual({
      ...SUCCESS,
      recorded: ["waiting", "running", "waiting", "running", "success"],
    });
  });
});

describe("a runner that dies", () => {
  it.each(CALLS.slice(0, -1).map((call, at) => [at, JSON.stringify(call)] as const))(
    "after call %d, %s, has failed its job, which nobody waits for",
    async (at) => {
      const { run, client, taskId } = await makeTaken();
      const model = new ModelRunner(client, BigInt(taskId));
      for (const call of CALLS.slice(0, at + 1)) await model.prepare(call)();
      await endSilentTasks(later(9));
      expect(await findTask(taskId)).toMatchObject({ state: "running" });
      await fallSilent();
      const ended = await findTask(taskId);
      expect(ended).toMatchObject({ state: "failure", isLogClosed: true });
      const sent = CALLS.slice(0, at + 1).reduce(
        (most, call) => Math.max(most, "rows" in call ? call.rows : 0),
        0,
      );
      const log = await logOf(taskId);
      expect(log.slice(0, sent)).toEqual(ROWS.slice(0, sent));
      expect(log.slice(sent)).toEqual(
        at >= 6 ? [] : ["::error::The runner has stopped reporting."],
      );
      expect(await statesOf(run)).toMatchObject({
        build: "failure",
        after: "skipped",
        always: "waiting",
      });

      // It was cut off, and goes on: nothing changes any more, and it is told so.
      const state = { id: BigInt(taskId), result: Result.SUCCESS };
      const answer = await client.updateTask({ state, outputs: OUTPUTS });
      expect(answer.state?.result).toBe(Result.FAILURE);
      const more = { taskId: BigInt(taskId), index: BigInt(log.length), rows: [{ content: "x" }] };
      await expect(client.updateLog(more)).rejects.toThrow(ConnectError);
      expect(await logOf(taskId)).toEqual(log);
      const { updatedAt: _, ...before } = ended;
      expect(await findTask(taskId)).toMatchObject(before);
    },
  );

  it("with its one job, where it runs one, is not seen again, and the job has failed", async () => {
    const { repo } = await makePushed({ ".gitea/workflows/ci.yml": FILE });
    const runner: TestRunner = await makeRunner({ repoId: repo.id, isEphemeral: true });
    const client = runnerClient(runner);
    const { task } = await client.fetchTask({});
    await client.updateTask({ state: { id: task?.id ?? 0n } });
    expect((await client.fetchTask({ tasksVersion: 0n })).task).toBeUndefined();
    await fallSilent();
    expect(await findTask(Number(task?.id))).toMatchObject({ state: "failure" });
    await expect(client.fetchTask({ tasksVersion: 0n })).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
  });
});
