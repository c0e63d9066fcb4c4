import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  accessTokenRepositories,
  accessTokens,
  repositories,
  runners,
  workflowJobs,
  workflowTasks,
} from "../../../../src/db/schema/index.ts";
import { hashSecret } from "../../../../src/auth/secret.ts";
import { takeTask } from "../../../../src/domain/actions/tasks/take-task.ts";
import { readRuntimeToken } from "../../../../src/domain/actions/tasks/runtime-token.ts";
import { only } from "../../../../src/lib/only.ts";
import {
  actionsCtx,
  findJob,
  makeJob,
  makeRun,
  makeRunner,
  NOW,
  type TestRunner,
} from "../../../support/actions.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";

/** A repository, and a runner of it. */
async function scene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const runner = await makeRunner({ repoId: repo.id });
  return { owner, repo, runner, run: await makeRun(repo) };
}

/** Asks for a task, and waits for what follows. */
async function take(runner: TestRunner, version = 0, now = NOW) {
  const ctx = actionsCtx(now);
  const fetched = await takeTask(ctx, runner.credential, version);
  await ctx.settled();
  return fetched;
}

describe("takeTask", () => {
  it("hands out the job that waits longest, with its token", async () => {
    const { repo, runner, run } = await scene();
    const later = await makeJob(run, repo, { readySequence: NOW + 900 });
    const first = await makeJob(run, repo, { readySequence: NOW + 800 });
    const { task, tasksVersion } = await take(runner);
    expect(tasksVersion).toBe(NOW + 900);
    expect(await findJob(first.id)).toMatchObject({
      state: "running",
      attempt: 1,
      taskId: task?.id,
    });
    expect(await findJob(later.id)).toMatchObject({ state: "waiting", attempt: 0 });

    const token = String(task?.context["token"]);
    const made = only(
      await db
        .select()
        .from(accessTokens)
        .where(eq(accessTokens.taskId, task?.id ?? 0)),
    );
    expect(made).toMatchObject({
      secretHash: await hashSecret(token),
      isBound: true,
      grants: { code: 2, releases: 2, wiki: 2 },
    });
    expect(
      await db
        .select()
        .from(accessTokenRepositories)
        .where(eq(accessTokenRepositories.tokenId, made.id)),
    ).toEqual([{ tokenId: made.id, repoId: repo.id }]);
    const runtimeToken = String(task?.context["gitea_runtime_token"]);
    expect(await readRuntimeToken(actionsCtx(), runtimeToken)).toEqual({
      taskId: task?.id,
      runId: run.id,
      jobId: first.id,
    });
    expect(await readRuntimeToken(actionsCtx(NOW + 1e9), runtimeToken)).toBeUndefined();
  });

  it("looks nothing up for the version that the runner knows", async () => {
    const { repo, runner, run } = await scene();
    const job = await makeJob(run, repo);
    expect(await take(runner, job.readySequence)).toEqual({ tasksVersion: job.readySequence });
    expect(await findJob(job.id)).toMatchObject({ state: "waiting" });
    expect((await take(runner, 1)).task).toBeDefined();
  });

  it.each([
    ["whose labels the runner lacks", { labels: ["linux", "gpu"] }, {}],
    ["that is blocked", { state: "blocked" as const }, {}],
    ["of an archived repository", {}, { archivedAt: 1 }],
    ["of a repository without actions", {}, { hasActions: false }],
  ])("leaves a job %s", async (_name, fields, repoFields) => {
    const { repo, runner, run } = await scene();
    const job = await makeJob(run, repo, fields);
    if (Object.keys(repoFields).length > 0) {
      await db.update(repositories).set(repoFields).where(eq(repositories.id, repo.id));
    }
    expect((await take(runner)).task).toBeUndefined();
    expect((await findJob(job.id)).attempt).toBe(0);
  });

  it("takes labels in any case, and a job without labels", async () => {
    const { repo, run } = await scene();
    const runner = await makeRunner({ repoId: repo.id, labels: ["LINUX", "Gpu"] });
    await makeJob(run, repo, { labels: ["gpu", "linux"] });
    await makeJob(run, repo, { labels: [] });
    expect((await take(runner)).task).toBeDefined();
    expect((await take(runner)).task).toBeDefined();
  });

  it("hands jobs to runners of their repository, its owner and the service alone", async () => {
    const { owner, repo, run } = await scene();
    const label = `only-${repo.id}`;
    const labels = [label];
    const other = await scene();
    const strangers = [
      await makeRunner({ labels, repoId: other.repo.id }),
      await makeRunner({ labels, ownerId: other.owner.id }),
    ];
    const own = [
      await makeRunner({ labels, repoId: repo.id }),
      await makeRunner({ labels, ownerId: owner.id }),
      await makeRunner({ labels }),
    ];
    for (const _runner of own) await makeJob(run, repo, { labels });
    for (const runner of strangers) expect((await take(runner)).task).toBeUndefined();
    for (const runner of own) expect((await take(runner)).task).toBeDefined();
  });

  it("gives no job to a disabled runner, which asks anew once it is enabled", async () => {
    const { repo, runner, run } = await scene();
    await makeJob(run, repo);
    await db.update(runners).set({ isDisabled: true }).where(eq(runners.id, runner.id));
    const { task, tasksVersion } = await take(runner);
    expect([task, tasksVersion]).toEqual([undefined, 1]);
    await db.update(runners).set({ isDisabled: false }).where(eq(runners.id, runner.id));
    expect((await take(runner, tasksVersion)).task).toBeDefined();
  });

  it("gives an ephemeral runner one job, also if it asks twice at once", async () => {
    const { repo, run } = await scene();
    const runner = await makeRunner({ repoId: repo.id, isEphemeral: true });
    for (let count = 0; count < 3; count++) await makeJob(run, repo);
    const fetched = await Promise.all([take(runner), take(runner), take(runner)]);
    expect(fetched.filter(({ task }) => task !== undefined)).toHaveLength(1);
    expect((await take(runner)).task).toBeUndefined();
  });

  it("tells a job the outputs and results of those that it needs", async () => {
    const { repo, runner, run } = await scene();
    const of = (jobId: string, state: "success" | "failure" | "skipped", outputs = {}) =>
      makeJob(run, repo, { jobId, state, outputs });
    await of("a", "success", { x: "1", y: "2" });
    await of("a", "success", { x: "", y: "3" });
    await of("b", "failure");
    await of("c", "skipped");
    await makeJob(run, repo, { jobId: "d", state: "failure", continuesOnError: true });
    await of("other", "failure");
    await makeJob(run, repo, { needs: ["a", "b", "c", "d"] });
    const { task } = await take(runner);
    expect(Object.fromEntries(task?.needs ?? [])).toEqual({
      a: { outputs: { x: "1", y: "3" }, result: "success" },
      b: { outputs: {}, result: "failure" },
      c: { outputs: {}, result: "skipped" },
      d: { outputs: {}, result: "success" },
    });
  });

  it("hands 500 jobs to 50 runners, none twice and none left", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const labels = [`many-${repo.id}`];
    for (let count = 0; count < 50; count++) {
      const run = await makeRun(repo);
      for (let each = 0; each < 10; each++) await makeJob(run, repo, { labels });
    }
    const all = await Promise.all(
      Array.from({ length: 50 }, () => makeRunner({ ownerId: owner.id, labels })),
    );
    const taken = await Promise.all(
      all.map(async (runner) => {
        const ids: number[] = [];
        for (;;) {
          const { task } = await takeTask(actionsCtx(), runner.credential, 0);
          if (!task) return ids;
          ids.push(task.id);
        }
      }),
    );
    const ids = taken.flat();
    expect([ids.length, new Set(ids).size]).toEqual([500, 500]);
    const jobs = await db.select().from(workflowJobs).where(eq(workflowJobs.repoId, repo.id));
    expect(jobs.filter(({ state, attempt }) => state === "running" && attempt === 1)).toHaveLength(
      500,
    );
    const tasks = await db.select().from(workflowTasks).where(eq(workflowTasks.repoId, repo.id));
    expect(new Set(tasks.map(({ jobId }) => jobId)).size).toBe(500);
  }, 120_000);
});
