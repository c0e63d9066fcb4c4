import { and, asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, workflowJobs } from "../../../../src/db/schema/index.ts";
import { drawConsequences } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { quietly } from "../../../support/merge-queues.ts";
import { only } from "../../../../src/lib/only.ts";
import {
  jobsOf,
  makePushed,
  type PushedRepo,
  reach,
  runsOf,
  statesOf,
} from "../../../support/workflow-runs.ts";

const step = "runs-on: x, steps: [{ run: a }]";

/** A file that is started by hand, with these lines of jobs. */
const byHand = (jobs: readonly string[], top = "") =>
  `on: [workflow_dispatch]\n${top}\njobs:\n${jobs.map((job) => `  ${job}\n`).join("")}`;

async function makeWorkflow(text: string): Promise<PushedRepo> {
  return makePushed({ ".gitea/workflows/a.yml": text });
}

async function dispatch({ owner, repo }: PushedRepo, inputs: object = {}) {
  const path = `/repos/${repo.owner}/${repo.name}/actions/workflows/a.yml/dispatches`;
  const json = { ref: "main", inputs };
  const answer = await quietly("POST", path, { as: owner, json });
  if (answer.status !== 204) throw new Error(JSON.stringify(answer.body));
  const run = (await runsOf(repo)).at(-1);
  if (!run) throw new Error("no run was made");
  return run;
}

const act = ({ owner, repo }: PushedRepo, path: string) =>
  quietly("POST", `/repos/${repo.owner}/${repo.name}/actions/${path}`, { as: owner });

describe("the jobs of a run", () => {
  it("wait for what they need, and are skipped if it fails, unless they have a condition", async () => {
    const made = await makeWorkflow(
      byHand([
        `a: { ${step} }`,
        `b: { needs: a, ${step} }`,
        `c: { needs: [a, b], ${step} }`,
        `d: { needs: c, if: always(), ${step} }`,
        `e: { ${step}, continue-on-error: true }`,
        `f: { needs: e, ${step} }`,
      ]),
    );
    const run = await dispatch(made);
    const waiting = { a: "waiting", e: "waiting" };
    const blocked = { b: "blocked", c: "blocked", d: "blocked", f: "blocked" };
    expect(await statesOf(run)).toEqual({ "": "waiting", ...waiting, ...blocked });
    await reach(run, "a", "running");
    expect((await statesOf(run))[""]).toBe("running");
    await reach(run, "e", "failure");
    await reach(run, "a", "failure");
    expect(await statesOf(run)).toEqual({
      "": "waiting",
      a: "failure",
      b: "skipped",
      c: "skipped",
      d: "waiting",
      e: "failure",
      f: "waiting",
    });
    await reach(run, "f", "success");
    await reach(run, "d", "success");
    expect((await statesOf(run))[""]).toBe("failure");
    const recorded = await db
      .select()
      .from(events)
      .where(and(eq(events.repoId, made.repo.id), eq(events.type, "workflow_run.changed")))
      .orderBy(asc(events.id));
    expect(recorded.map(({ payload }) => payload["state"])).toEqual([
      "waiting",
      "running",
      "waiting",
      "failure",
    ]);
    expect(recorded[0]?.actorId).toBe(made.owner.id);
  });

  it("of a matrix run as many at once as it allows, and end with the first failure", async () => {
    const matrix = "strategy: { max-parallel: 2, matrix: { n: [1, 2, 3, 4] } }";
    const run = await dispatch(await makeWorkflow(byHand([`m: { ${matrix}, ${step} }`])));
    expect(await statesOf(run)).toMatchObject({
      "m (1)": "waiting",
      "m (2)": "waiting",
      "m (3)": "blocked",
    });
    await reach(run, "m (1)", "success");
    expect(await statesOf(run)).toMatchObject({ "m (3)": "waiting", "m (4)": "blocked" });
    await reach(run, "m (2)", "failure");
    expect(await statesOf(run)).toEqual({
      "": "failure",
      "m (1)": "success",
      "m (2)": "failure",
      "m (3)": "cancelled",
      "m (4)": "cancelled",
    });
  });

  it("are as many as a matrix may have, and begin, are skipped and end all at once", async () => {
    const legs = Array.from({ length: 120 }, (_, leg) => leg).join(", ");
    const made = await makeWorkflow(
      byHand([
        `a: { ${step} }`,
        `b: { needs: a, strategy: { matrix: { leg: [${legs}] } }, ${step} }`,
        `c: { needs: b, strategy: { matrix: { leg: [${legs}] } }, ${step} }`,
      ]),
    );
    const countsOf = async (run: Parameters<typeof jobsOf>[0]) => {
      const states = Map.groupBy(await jobsOf(run), ({ jobId, state }) => `${jobId} ${state}`);
      return Object.fromEntries([...states].map(([key, jobs]) => [key, jobs.length]));
    };
    const run = await dispatch(made);
    await reach(run, "a", "success");
    expect(await countsOf(run)).toEqual({ "a success": 1, "b waiting": 120, "c blocked": 120 });
    await reach(run, "b (7)", "failure");
    expect(await countsOf(run)).toEqual({
      "a success": 1,
      "b cancelled": 119,
      "b failure": 1,
      "c skipped": 120,
    });
    expect((await jobsOf(run)).every(({ state, reportedState }) => state === reportedState)).toBe(
      true,
    );
  });

  it("begin to wait in an order that increases", async () => {
    const run = await dispatch(
      await makeWorkflow(byHand([`a: { ${step} }`, `b: { ${step} }`, `c: { ${step} }`])),
    );
    const sequences = (await jobsOf(run)).map(({ readySequence }) => readySequence);
    expect(new Set(sequences).size).toBe(3);
    expect(sequences.toSorted((a, b) => a - b)).toEqual(sequences);
  });
});

describe("a group", () => {
  it("of runs lets one go on at a time, in their order, and loses none", async () => {
    const made = await makeWorkflow(byHand([`a: { ${step} }`], "concurrency: deploy"));
    const [first, second, third] = [
      await dispatch(made),
      await dispatch(made),
      await dispatch(made),
    ];
    expect([await statesOf(first), await statesOf(second), await statesOf(third)]).toEqual([
      { "": "waiting", a: "waiting" },
      { "": "blocked", a: "blocked" },
      { "": "blocked", a: "blocked" },
    ]);
    await reach(first, "a", "success");
    expect((await statesOf(second))[""]).toBe("waiting");
    expect((await statesOf(third))[""]).toBe("blocked");
    expect((await act(made, `runs/${second.id}/cancel`)).status).toBe(204);
    expect((await statesOf(second))[""]).toBe("cancelled");
    expect((await statesOf(third))[""]).toBe("waiting");
  });

  it("of runs is taken over by a newer one where the file says so", async () => {
    const top = "concurrency: { group: 'g-${{ github.ref }}', cancel-in-progress: true }";
    const made = await makeWorkflow(byHand([`a: { ${step} }`], top));
    const first = await dispatch(made);
    await reach(first, "a", "running");
    const second = await dispatch(made);
    expect(first.concurrencyGroup).toBe("g-refs/heads/main");
    expect((await statesOf(first))[""]).toBe("cancelled");
    expect((await statesOf(second))[""]).toBe("waiting");
  });

  it("of jobs lets one go on at a time", async () => {
    const job = `concurrency: one, ${step}`;
    const made = await makeWorkflow(byHand([`a: { ${job} }`, `b: { ${job} }`]));
    const [first, second] = [await dispatch(made), await dispatch(made)];
    expect(await statesOf(first)).toMatchObject({ a: "waiting", b: "blocked" });
    expect(await statesOf(second)).toMatchObject({ a: "blocked", b: "blocked" });
    await reach(first, "a", "success");
    expect(await statesOf(first)).toMatchObject({ b: "waiting" });
    await reach(first, "b", "success");
    expect(await statesOf(second)).toMatchObject({ a: "waiting", b: "blocked" });
  });
});

describe("a group that names what another job gave", () => {
  it("is evaluated once that job has ended", async () => {
    const made = await makeWorkflow(
      byHand([
        `a: { ${step} }`,
        `b: { needs: a, concurrency: "to-\${{ needs.a.outputs.place }}", ${step} }`,
      ]),
    );
    const run = await dispatch(made);
    await db
      .update(workflowJobs)
      .set({ outputs: { place: "north" } })
      .where(and(eq(workflowJobs.runId, run.id), eq(workflowJobs.name, "a")));
    await reach(run, "a", "success");
    expect((await jobsOf(run))[1]).toMatchObject({
      state: "waiting",
      concurrencyGroup: "to-north",
      isGroupEvaluated: true,
    });
  });
});

describe("a run that has ended", () => {
  it("is repeated as a whole, for what failed, and from one job on", async () => {
    const made = await makeWorkflow(
      byHand([`a: { ${step} }`, `b: { ${step} }`, `c: { needs: b, ${step} }`]),
    );
    const run = await dispatch(made);
    expect((await act(made, `runs/${run.id}/rerun`)).status).toBe(400);
    await reach(run, "a", "success");
    await reach(run, "b", "failure");
    expect(await statesOf(run)).toMatchObject({ "": "failure", c: "skipped" });
    expect((await act(made, `runs/${run.id}/rerun-failed-jobs`)).status).toBe(204);
    expect(await statesOf(run)).toEqual({
      "": "waiting",
      a: "success",
      b: "waiting",
      c: "blocked",
    });
    await reach(run, "b", "success");
    await reach(run, "c", "success");
    expect(only(await runsOf(made.repo))).toMatchObject({ state: "success", attempt: 2 });
    const [, b] = await jobsOf(run);
    expect((await act(made, `jobs/${b?.id}/rerun`)).status).toBe(204);
    expect(await statesOf(run)).toMatchObject({ a: "success", b: "waiting", c: "blocked" });
    expect((await act(made, `runs/${run.id}/cancel`)).status).toBe(204);
    expect(await statesOf(run)).toMatchObject({ "": "cancelled", b: "cancelled", c: "cancelled" });
    expect((await act(made, `runs/${run.id}/rerun`)).status).toBe(204);
    expect(await statesOf(run)).toMatchObject({ a: "waiting", b: "waiting", c: "blocked" });
  });

  it("is deleted with its jobs, and none that has not", async () => {
    const made = await makeWorkflow(byHand([`a: { ${step} }`]));
    const run = await dispatch(made);
    const path = `/repos/${made.repo.owner}/${made.repo.name}/actions/runs/${run.id}`;
    expect((await quietly("DELETE", path, { as: made.owner })).status).toBe(400);
    expect(await runsOf(made.repo)).toHaveLength(1);
    await reach(run, "a", "success");
    expect((await quietly("DELETE", path, { as: made.owner })).status).toBe(204);
    expect(await runsOf(made.repo)).toEqual([]);
    expect(await jobsOf(run)).toEqual([]);
  });
});

describe("starting by hand", () => {
  const file = [
    "on:",
    "  workflow_dispatch:",
    "    inputs:",
    "      level: { type: choice, options: [low, high], default: low }",
    "      dry: { type: boolean, default: false }",
    "run-name: Deploy ${{ inputs.level }}",
    `jobs: { a: { ${step} } }`,
    "",
  ].join("\n");

  it("fills in the inputs, and refuses those that the workflow does not take", async () => {
    const made = await makeWorkflow(file);
    const run = await dispatch(made, { level: "high" });
    expect(run).toMatchObject({ title: "Deploy high", event: "workflow_dispatch" });
    expect(JSON.parse(run.payload)).toMatchObject({
      inputs: { level: "high", dry: "false" },
      ref: "refs/heads/main",
      workflow: "a.yml",
      repository: { name: made.repo.name },
      sender: { login: made.owner.name },
    });
    const path = `/repos/${made.repo.owner}/${made.repo.name}/actions/workflows/a.yml/dispatches`;
    for (const inputs of [{ level: "odd" }, { other: "1" }, { dry: "perhaps" }]) {
      const json = { ref: "main", inputs };
      expect((await quietly("POST", path, { as: made.owner, json })).status).toBe(422);
    }
    const unknown = { ref: "absent" };
    expect((await quietly("POST", path, { as: made.owner, json: unknown })).status).toBe(404);
    expect(await runsOf(made.repo)).toHaveLength(1);
  });

  it("is refused for a workflow that is switched off or has no such trigger", async () => {
    const made = await makePushed({
      ".gitea/workflows/a.yml": file,
      ".gitea/workflows/push.yml": `on: issues\njobs: { a: { ${step} } }\n`,
    });
    const { owner, repo } = made;
    const path = `/repos/${repo.owner}/${repo.name}/actions/workflows`;
    const json = { ref: "main" };
    const start = (name: string) =>
      quietly("POST", `${path}/${name}/dispatches`, { as: owner, json });
    expect((await start("push.yml")).status).toBe(422);
    expect((await quietly("PUT", `${path}/a.yml/disable`, { as: owner })).status).toBe(204);
    expect((await start("a.yml")).status).toBe(403);
    const listed = await quietly("GET", path, { as: owner });
    expect(listed.body).toMatchObject({
      workflows: [
        { id: "a.yml", state: "disabled_manually" },
        { id: "push.yml", state: "active" },
      ],
      total_count: 2,
    });
    expect((await quietly("PUT", `${path}/a.yml/enable`, { as: owner })).status).toBe(204);
    expect((await start("a.yml")).status).toBe(204);
    await drawConsequences();
    expect(await runsOf(repo)).toHaveLength(1);
  });
});
