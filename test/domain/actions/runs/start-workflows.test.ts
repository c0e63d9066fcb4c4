import { and, asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { commitStatuses, workflows } from "../../../../src/db/schema/index.ts";
import { drawConsequences, pushQuietly } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import type { TestRepo, TestUser } from "../../../support/make.ts";
import { quietly } from "../../../support/merge-queues.ts";
import { jobsOf, makePushed, runsOf } from "../../../support/workflow-runs.ts";

const CI = `
name: CI
run-name: Run of \${{ github.ref_name }}
on:
  push:
    branches: [main, "release/**"]
    paths-ignore: ["docs/**"]
jobs:
  build:
    runs-on: linux
    steps: [{ run: make }]
  test:
    needs: build
    strategy: { matrix: { node: [20, 22] } }
    runs-on: [linux, "x64"]
    steps: [{ run: make test }]
`;

describe("the workflows of a push", () => {
  it("make a run with its jobs, of which the first wait for a runner", async () => {
    const { repo, oid, owner } = await makePushed({ ".gitea/workflows/ci.yml": CI, a: "1\n" });

    const [run, ...others] = await runsOf(repo);
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      number: 1,
      name: "CI",
      title: "Run of main",
      event: "push",
      ref: "refs/heads/main",
      headOid: oid,
      headBranch: "main",
      actorId: owner.id,
      state: "waiting",
      reportedState: "waiting",
      faults: [],
    });
    const jobs = await jobsOf(run ?? { id: 0 });
    expect(jobs.map(({ name, state, labels }) => [name, state, labels])).toEqual([
      ["build", "waiting", ["linux"]],
      ["test (20)", "blocked", ["linux", "x64"]],
      ["test (22)", "blocked", ["linux", "x64"]],
    ]);
    expect(jobs[0]?.readySequence).toBeGreaterThan(0);
    const statuses = await db
      .select()
      .from(commitStatuses)
      .where(and(eq(commitStatuses.repoId, repo.id), eq(commitStatuses.commitOid, oid)))
      .orderBy(asc(commitStatuses.number));
    expect(
      statuses.map(({ context, state, description }) => [context, state, description]),
    ).toEqual([
      ["CI / build (push)", "pending", "Waiting to run"],
      ["CI / test (20) (push)", "pending", "Blocked by required conditions"],
      ["CI / test (22) (push)", "pending", "Blocked by required conditions"],
    ]);
    const stored = await db.select().from(workflows).where(eq(workflows.repoId, repo.id));
    expect(stored).toMatchObject([{ file: "ci.yml", name: "CI", events: ["push"] }]);
  });

  it("start by their filters, and not where the commit asks for none", async () => {
    const { owner, repo, history, oid } = await makePushed(
      { ".github/workflows/ci.yaml": CI },
      "First [skip ci]\n",
    );
    expect(await runsOf(repo)).toEqual([]);
    const push = async (ref: string, files: Record<string, string>) => {
      const next = history.commit({
        files: { ".github/workflows/ci.yaml": CI, ...files },
        parents: [oid],
        message: `${ref}\n`,
      });
      const pack = history.build();
      await pushQuietly(owner, repo, [{ ref, new: next }], pack);
      await drawConsequences();
    };
    await push("refs/heads/topic", { a: "1\n" });
    await push("refs/tags/v1", { b: "1\n" });
    expect(await runsOf(repo)).toEqual([]);
    await push("refs/heads/release/1.0", { c: "1\n" });
    expect((await runsOf(repo)).map(({ headBranch }) => headBranch)).toEqual(["release/1.0"]);
  });

  it("fail with the line of what can't be read", async () => {
    const { repo, oid } = await makePushed({
      ".gitea/workflows/bad.yml":
        "on: push\njobs:\n  a:\n    needs: b\n    runs-on: x\n    steps: [{run: a}]\n",
    });
    const [run] = await runsOf(repo);
    expect(run).toMatchObject({ state: "failure", name: "bad.yml", event: "push", headOid: oid });
    expect(run?.faults).toMatchObject([{ line: 4 }]);
  });
});

describe("the workflows of an issue", () => {
  it("come from the default branch", async () => {
    const file = `on: { issues: { types: [opened] } }\njobs: { a: { runs-on: x, steps: [{ run: a }] } }\n`;
    const { owner, repo } = await makePushed({ ".gitea/workflows/triage.yml": file });
    expect(await runsOf(repo)).toEqual([]);
    await openIssue(owner, repo);
    const [run] = await runsOf(repo);
    expect(run).toMatchObject({ event: "issues", ref: "refs/heads/main", title: "Add files" });
    expect(JSON.parse(run?.payload ?? "")).toMatchObject({
      action: "opened",
      issue: { title: "A bug" },
    });
  });
});

async function openIssue(owner: TestUser, repo: TestRepo): Promise<void> {
  const json = { title: "A bug" };
  const path = `/repos/${repo.owner}/${repo.name}/issues`;
  expect((await quietly("POST", path, { as: owner, json })).status).toBe(201);
  await drawConsequences();
}
