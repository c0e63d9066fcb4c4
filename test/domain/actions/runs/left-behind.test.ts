import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories, workflowJobs, workflowRuns } from "../../../../src/db/schema/index.ts";
import { settleLeft } from "../../../../src/domain/actions/runs/settle-left.ts";
import { cancelUnapprovedRuns } from "../../../../src/domain/actions/tasks/end-tasks.ts";
import { takeTask } from "../../../../src/domain/actions/tasks/take-task.ts";
import {
  actionsCtx,
  findJob,
  makeJob,
  makeRun,
  makeRunner,
  NOW,
} from "../../../support/actions.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";
import { statesOf } from "../../../support/workflow-runs.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A job that waits, and a runner of its owner that asks with the version it knows. */
async function scene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const job = await makeJob(await makeRun(repo), repo);
  const runner = await makeRunner({ ownerId: owner.id });
  let known = 0;
  const ask = async () => {
    const ctx = actionsCtx();
    const { task, tasksVersion } = await takeTask(ctx, runner.credential, known);
    await ctx.settled();
    known = tasksVersion;
    return task;
  };
  const edit = async (json: object) => {
    const answer = await call("PATCH", `/repos/${owner.name}/${repo.name}`, { as: owner, json });
    expect(answer.status).toBe(200);
  };
  return { owner, repo, job, ask, edit };
}

describe("jobs that runners may have again", () => {
  // A runner sends the version that it knows, and nothing is looked up unless there is a newer one.
  it.each([
    ["their repository is archived no more", { archived: true }, { archived: false }],
    ["actions are switched on again", { has_actions: false }, { has_actions: true }],
  ])("are seen by runners that ask all the time, once %s", async (_, off, on) => {
    const { job, ask, edit } = await scene();
    await edit(off);
    expect(await ask()).toBeUndefined();
    expect(await ask()).toBeUndefined();
    await edit(on);
    expect(await ask()).toBeDefined();
    expect(await findJob(job.id)).toMatchObject({ state: "running" });
  });

  it("are seen by runners of the new owner of their repository", async () => {
    const { repo, job } = await scene();
    const other = await scene();
    expect(await other.ask()).toBeDefined();
    expect(await other.ask()).toBeUndefined();
    await db
      .update(repositories)
      .set({ ownerId: other.owner.id })
      .where(eq(repositories.id, repo.id));
    expect(await other.ask()).toBeDefined();
    expect(await findJob(job.id)).toMatchObject({ state: "running" });
  });
});

describe("the schedule", () => {
  it("comes to a run that was left behind any number of runs that wait with reason", async () => {
    const repo = await make.repo(await make.user());
    const concurrencyGroup = "deploy";
    const holder = await makeRun(repo, { concurrencyGroup });
    await makeJob(holder, repo);
    const blocked = { state: "blocked", reportedState: "blocked" } as const;
    for (let count = 0; count < 70; count++) {
      await makeJob(await makeRun(repo, { concurrencyGroup, ...blocked }), repo, blocked);
    }
    const left = await makeRun(repo, blocked);
    await makeJob(left, repo, { ...blocked, name: "a" });
    // A job that its group held, in a run that has begun.
    const begun = await makeRun(repo, { state: "waiting", reportedState: "waiting" });
    await makeJob(begun, repo, { state: "success", reportedState: "success", name: "a" });
    await makeJob(begun, repo, { ...blocked, name: "b", concurrencyGroup: "free" });
    for (let minute = 1; minute <= 9; minute++) {
      await settleLeft(actionsCtx(NOW + DAY + minute * MINUTE));
    }
    expect(await statesOf(left)).toMatchObject({ "": "waiting", a: "waiting" });
    expect(await statesOf(begun)).toMatchObject({ "": "waiting", b: "waiting" });
    const waiting = await db.select().from(workflowRuns).where(eq(workflowRuns.repoId, repo.id));
    expect(waiting.filter(({ state }) => state !== "blocked")).toHaveLength(3);
  });

  it("cancels a run that nobody approves for thirty days", async () => {
    const repo = await make.repo(await make.user());
    const run = await makeRun(repo, { state: "blocked", needsApproval: true });
    const job = await makeJob(run, repo, { state: "blocked", readySequence: 0 });
    await cancelUnapprovedRuns(actionsCtx(NOW + 29 * DAY));
    expect(await findJob(job.id)).toMatchObject({ state: "blocked" });
    await cancelUnapprovedRuns(actionsCtx(NOW + 31 * DAY));
    expect(await findJob(job.id)).toMatchObject({ state: "cancelled", reportedState: "cancelled" });
    expect((await statesOf(run))[""]).toBe("cancelled");
    const rows = await db.select().from(workflowJobs).where(eq(workflowJobs.runId, run.id));
    expect(rows).toHaveLength(1);
  });
});
