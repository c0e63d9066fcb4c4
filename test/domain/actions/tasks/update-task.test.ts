import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  accessTokens,
  runners,
  workflowJobs,
  workflowTasks,
  type WorkResult,
} from "../../../../src/db/schema/index.ts";
import { appendLog } from "../../../../src/domain/actions/tasks/append-log.ts";
import {
  cancelAbandonedJobs,
  closeLogs,
  endEndlessTasks,
  endSilentTasks,
} from "../../../../src/domain/actions/tasks/end-tasks.ts";
import { readLog } from "../../../../src/domain/actions/tasks/read-log.ts";
import { takeTask } from "../../../../src/domain/actions/tasks/take-task.ts";
import { type TaskReport, updateTask } from "../../../../src/domain/actions/tasks/update-task.ts";
import {
  actionsCtx,
  findJob,
  findTask,
  makeJob,
  makeRun,
  makeRunner,
  NOW,
} from "../../../support/actions.ts";
import type { Runner } from "../../../../src/db/schema/index.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";

const MINUTE = 60_000;

/** A task that runs. */
async function scene(fields: Partial<Runner> = {}) {
  const repo = await make.repo(await make.user());
  const runner = await makeRunner({ repoId: repo.id, ...fields });
  const run = await makeRun(repo);
  const job = await makeJob(run, repo);
  const ctx = actionsCtx();
  const { task } = await takeTask(ctx, runner.credential, 0);
  await ctx.settled();
  if (!task) throw new Error("no task");
  const report = (more: Partial<TaskReport> = {}, now = NOW + 5000) =>
    updateTask(actionsCtx(now), runner.credential, {
      taskId: task.id,
      result: undefined,
      stoppedAt: undefined,
      steps: [],
      outputs: {},
      ...more,
    });
  const log = (texts: readonly string[], isLast = false, index = 0) =>
    appendLog(actionsCtx(NOW + 5000), runner.credential, {
      taskId: task.id,
      index,
      rows: texts.map((text) => ({ timeMs: NOW, nanos: 0, text })),
      isLast,
    });
  const rows = async () =>
    (await readLog(ctx, task, { fromRow: 0, rowCount: 100 })).map(({ text }) => text);
  return { repo, runner, run, job, task, report, log, rows };
}

const step = (index: number, result?: WorkResult, logLength = 1) => ({
  index,
  result,
  startedAt: NOW + 10,
  stoppedAt: result && NOW + 20,
  logIndex: 0,
  logLength,
});

describe("updateTask", () => {
  it("notes steps, which do not go back when reports come late", async () => {
    const { report, task } = await scene();
    await report({ steps: [step(0)] });
    await report({ steps: [step(0, "success", 4), step(1, undefined, 5), step(7)] });
    await report({ steps: [step(0), step(1, undefined, 2)] });
    expect(await findTask(task.id)).toMatchObject({
      state: "running",
      steps: [
        { name: "Run actions/checkout@v4", state: "success", logLength: 4 },
        { name: "Test", state: "running", logLength: 5 },
      ],
    });
  });

  it("writes nothing while nothing changes, until a sign of life is due", async () => {
    const { report, task } = await scene();
    await report({}, NOW + 1000);
    await report({}, NOW + 5000);
    expect((await findTask(task.id)).updatedAt).toBe(NOW + 1000);
    await report({}, NOW + 40_000);
    expect((await findTask(task.id)).updatedAt).toBe(NOW + 40_000);
  });

  it("ends a task once: what follows changes nothing", async () => {
    const { report, task, job } = await scene();
    const ended = await report({ result: "success", stoppedAt: NOW + 3000, outputs: { a: "1" } });
    expect(ended).toEqual({ state: "success", outputs: ["a"] });
    expect(await report({ result: "failure", outputs: { a: "2", b: "3" } })).toEqual({
      state: "success",
      outputs: ["a", "b"],
    });
    expect(await findJob(job.id)).toMatchObject({
      state: "success",
      outputs: { a: "1" },
      stoppedAt: NOW + 3000,
    });
    expect(await db.select().from(accessTokens).where(eq(accessTokens.taskId, task.id))).toEqual(
      [],
    );
  });

  it("takes one of reports that come at once", async () => {
    const { report, job } = await scene();
    const results = ["success", "failure", "cancelled"] as const;
    const answers = await Promise.all(results.map((result) => report({ result })));
    const { state } = await findJob(job.id);
    expect(results).toContain(state);
    expect(answers.map((answer) => answer.state)).toEqual([state, state, state]);
  });

  it("answers with the cancellation of a user, and notes what cleans up", async () => {
    const { report, task, log } = await scene();
    await report({ steps: [step(0, "success", 1), step(1, undefined, 1)] });
    await db
      .update(workflowTasks)
      .set({ state: "cancelled", stoppedAt: NOW })
      .where(eq(workflowTasks.id, task.id));
    expect(await log(["cleaned up"])).toBe(1);
    expect(await report({ result: "success", steps: [step(1, "success", 9)] })).toMatchObject({
      state: "cancelled",
    });
    expect((await findTask(task.id)).steps[1]).toMatchObject({ logLength: 9 });
  });

  it("keeps the first value of an output, within bounds", async () => {
    const { report, task, log, rows } = await scene();
    await log(["done"], true);
    await report({ outputs: { first: "1" } });
    const answer = await report({
      outputs: {
        first: "2",
        ["n".repeat(256)]: "x",
        large: "x".repeat(1024 * 1024),
        token: `Bearer ${String(task.context["token"])}`,
      },
    });
    expect(answer.outputs).toContain("large");
    expect((await findTask(task.id)).outputs).toEqual({ first: "1" });
    expect((await rows()).slice(1).join("\n")).toContain("'token' is left out");
  });

  it("lets an ephemeral runner repeat itself, and nothing more", async () => {
    const { report, runner, repo } = await scene({ isEphemeral: true });
    await report({ result: "success" });
    expect(await report({ result: "success" })).toMatchObject({ state: "success" });
    await makeJob(await makeRun(repo), repo);
    await expect(takeTask(actionsCtx(), runner.credential, 0)).rejects.toMatchObject({
      kind: "unauthenticated",
    });
  });

  it("is not for the task of another runner", async () => {
    const { task, job } = await scene();
    const other = await makeRunner();
    const report = { taskId: task.id, stoppedAt: undefined, steps: [], outputs: {} };
    await expect(
      updateTask(actionsCtx(), other.credential, { ...report, result: "failure" }),
    ).rejects.toMatchObject({ kind: "not_found" });
    expect(await findJob(job.id)).toMatchObject({ state: "running" });
  });
});

describe("the schedule", () => {
  // It ends a bounded number of tasks at a time, and other tests of the database leave some.
  beforeEach(async () => {
    await db
      .update(workflowTasks)
      .set({ state: "cancelled", isLogClosed: true })
      .where(eq(workflowTasks.state, "running"));
  });

  it("fails a task whose runner is silent for ten minutes, and closes its log", async () => {
    const { report, job, task, log, rows } = await scene();
    await log(["working"]);
    await report({ steps: [step(0)] });
    await endSilentTasks(actionsCtx(NOW + 9 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "running" });
    await endSilentTasks(actionsCtx(NOW + 11 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "failure" });
    expect(await findTask(task.id)).toMatchObject({ state: "failure", isLogClosed: true });
    expect(await rows()).toEqual(["working", "::error::The runner has stopped reporting."]);
    expect(await report({ result: "success" })).toMatchObject({ state: "failure" });
  });

  it("fails the task of a deleted runner within minutes", async () => {
    const { report, job, runner } = await scene();
    await report();
    await db.delete(runners).where(eq(runners.id, runner.id));
    await endSilentTasks(actionsCtx(NOW + 2 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "failure" });
  });

  it("lets a job wait again whose task was lost on the way", async () => {
    const { report, job, runner, task } = await scene();
    await endSilentTasks(actionsCtx(NOW + 3 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "waiting", attempt: 1 });
    expect(await report()).toMatchObject({ state: "cancelled" });
    const again = await takeTask(actionsCtx(NOW + 4 * MINUTE), runner.credential, 0);
    expect(again.task?.context["run_attempt"]).toBe("2");
    expect(again.task?.id).not.toBe(task.id);
  });

  it("fails a task that takes longer than its job may", async () => {
    const { report, job } = await scene();
    await db.update(workflowJobs).set({ timeoutMinutes: 30 }).where(eq(workflowJobs.id, job.id));
    await report({}, NOW + 39 * MINUTE);
    await endEndlessTasks(actionsCtx(NOW + 39 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "running" });
    await endEndlessTasks(actionsCtx(NOW + 41 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "failure" });
  });

  it("cancels a job that no runner takes for a day", async () => {
    const repo = await make.repo(await make.user());
    const job = await makeJob(await makeRun(repo), repo, { labels: ["nobody"] });
    await cancelAbandonedJobs(actionsCtx(NOW + 23 * 60 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "waiting" });
    await cancelAbandonedJobs(actionsCtx(NOW + 25 * 60 * MINUTE));
    expect(await findJob(job.id)).toMatchObject({ state: "cancelled" });
  });

  it("closes the log of a cancelled task whose runner says nothing more", async () => {
    const { task, log, rows } = await scene();
    await log(["working"]);
    await db
      .update(workflowTasks)
      .set({ state: "cancelled", stoppedAt: NOW })
      .where(eq(workflowTasks.id, task.id));
    await closeLogs(actionsCtx(NOW + MINUTE));
    expect(await findTask(task.id)).toMatchObject({ isLogClosed: false });
    await closeLogs(actionsCtx(NOW + 6 * MINUTE));
    expect(await findTask(task.id)).toMatchObject({ isLogClosed: true });
    expect(await rows()).toHaveLength(2);
  });
});
