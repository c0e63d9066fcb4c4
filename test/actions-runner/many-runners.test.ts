import { and, eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { Result } from "../../src/actions-runner/messages/runner/v1/messages_pb.ts";
import { workflowJobs, workflowTasks } from "../../src/db/schema/index.ts";
import { makeJob, makeRun, makeRunner, runnerClient } from "../support/actions.ts";
import { db } from "../support/db.ts";
import { make } from "../support/make.ts";
import { statesOf } from "../support/workflow-runs.ts";

/** An owner with runs whose jobs all wait, and the clients of runners. */
async function makeScene(sizes: readonly number[], runnerCount: number) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const runs = await Promise.all(sizes.map(() => makeRun(repo)));
  for (const [at, run] of runs.entries()) {
    for (let position = 0; position < (sizes[at] ?? 0); position++) {
      await makeJob(run, repo, { name: `job ${position}`, position, reportedState: "waiting" });
    }
  }
  const clients = await Promise.all(
    Array.from({ length: runnerCount }, async () =>
      runnerClient(await makeRunner({ ownerId: owner.id })),
    ),
  );
  return { runs, clients };
}

const tasksOf = (runs: readonly { readonly id: number }[]) =>
  db
    .select()
    .from(workflowTasks)
    .where(
      inArray(
        workflowTasks.runId,
        runs.map(({ id }) => id),
      ),
    );

describe("runners that ask at once", () => {
  it.each([2, 50])("for one job, %d of them: one gets it", async (runnerCount) => {
    const { runs, clients } = await makeScene([1], runnerCount);
    const answers = await Promise.all(
      clients.map((client) => client.fetchTask({ tasksVersion: 0n })),
    );
    expect(answers.filter(({ task }) => task)).toHaveLength(1);
    expect(await tasksOf(runs)).toMatchObject([{ state: "running", attempt: 1 }]);
  });

  it("and again as soon as they are free: each job is handed out once, and none is left", async () => {
    const { runs, clients } = await makeScene([60, 60], 50);
    const taken: bigint[] = [];
    await Promise.all(
      clients.map(async (client) => {
        for (;;) {
          const { task } = await client.fetchTask({ tasksVersion: 0n });
          if (!task) return;
          taken.push(task.id);
          await client.updateTask({ state: { id: task.id, result: Result.SUCCESS } });
        }
      }),
    );
    expect(new Set(taken).size).toBe(120);
    const tasks = await tasksOf(runs);
    expect(new Set(tasks.map(({ id }) => BigInt(id)))).toEqual(new Set(taken));
    expect(tasks.every(({ attempt }) => attempt === 1)).toBe(true);
    for (const run of runs) {
      expect((await statesOf(run))[""]).toBe("success");
      const left = and(eq(workflowJobs.runId, run.id), eq(workflowJobs.reportedState, "success"));
      expect(await db.$count(workflowJobs, left)).toBe(60);
    }
  }, 60_000);
});
