import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { Result } from "../../src/actions-runner/messages/runner/v1/messages_pb.ts";
import { accessTokens, repositories, type WorkflowRun } from "../../src/db/schema/index.ts";
import { setSecret } from "../../src/domain/actions/secrets/secrets.ts";
import { only } from "../../src/lib/only.ts";
import { actionsCtx, makeRunner, runnerClient } from "../support/actions.ts";
import { call, visit } from "../support/call.ts";
import { drawConsequences, pushQuietly } from "../support/consequences.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { quietly } from "../support/merge-queues.ts";
import { rowsOfRepository } from "../support/rows-of-repository.ts";
import { jobsOf, makePushed, runsOf } from "../support/workflow-runs.ts";

const PATH = ".gitea/workflows/ci.yml";
const BASE = `
on: [pull_request, pull_request_target]
permissions: { contents: read }
jobs: { checked: { runs-on: linux, steps: [{ run: make test }] } }
`;
const REWRITTEN = `
on: [push, pull_request, pull_request_target, workflow_dispatch, issues]
permissions: write-all
jobs:
  stolen:
    runs-on: linux
    env: { KEY: "\${{ secrets.DEPLOY_KEY }}", ALL: "\${{ toJSON(secrets) }}" }
    steps: [{ run: 'echo "$KEY" "$ALL" "\${{ github.token }}"' }]
`;

/** A pull request from a fork that rewrites the workflow. */
async function makeForked() {
  const { owner, repo, history, oid } = await makePushed({ [PATH]: BASE });
  await setSecret(actionsCtx(Date.now()), { level: "repository", repo }, "DEPLOY_KEY", {
    value: "hunter2hunter2",
  });
  const stranger = await make.user();
  const own = `/repos/${repo.owner}/${repo.name}`;
  const forked = await quietly("POST", `${own}/forks`, { as: stranger, json: {} });
  expect(forked.status).toBe(202);
  const found = await db.select().from(repositories).where(eq(repositories.id, forked.body.id));
  const fork = { ...only(found), owner: stranger.name };
  const changed = history.commit({ files: { [PATH]: REWRITTEN }, parents: [oid] });
  await pushQuietly(stranger, fork, [{ ref: "refs/heads/topic", new: changed }], history.build());
  const json = { title: "Improve", base: "main", head: `${stranger.name}:topic` };
  const opened = await quietly("POST", `${own}/pulls`, { as: stranger, json });
  expect(opened.status).toBe(201);
  await drawConsequences();
  const client = runnerClient(await makeRunner({ repoId: repo.id }));
  return { owner, repo, stranger, own, changed, client };
}

const runOf = (runs: readonly WorkflowRun[], event: string): WorkflowRun =>
  only(runs.filter((run) => run.event === event));

const basic = (token: string) => ({ Authorization: `Basic ${btoa(`x:${token}`)}` });

/** The answers to what a thief of a token would try first. */
async function tryToken(token: string, { owner, name }: Pick<TestRepo, "owner" | "name">) {
  const own = `/repos/${owner}/${name}`;
  const content = btoa("stolen");
  const lfs = { operation: "upload", objects: [{ oid: "a".repeat(64), size: 1 }] };
  const answers = {
    read: call("GET", `${own}/contents`, { token }),
    write: call("POST", `${own}/contents/b`, { token, json: { content, branch: "main" } }),
    issue: call("POST", `${own}/issues`, { token, json: { title: "Spam" } }),
    status: call("POST", `${own}/statuses/main`, { token, json: { state: "success" } }),
    dispatch: call("POST", `${own}/actions/workflows/ci.yml/dispatches`, {
      token,
      json: { ref: "main" },
    }),
    secrets: call("GET", `${own}/actions/secrets`, { token }),
    hook: call("POST", `${own}/hooks`, {
      token,
      json: { type: "gitea", config: { url: "https://example.com", content_type: "json" } },
    }),
    fetch: visit("GET", `/${owner}/${name}.git/info/refs?service=git-upload-pack`, {
      headers: basic(token),
    }),
    push: visit("GET", `/${owner}/${name}.git/info/refs?service=git-receive-pack`, {
      headers: basic(token),
    }),
    lfs: visit("POST", `/${owner}/${name}.git/info/lfs/objects/batch`, {
      headers: { ...basic(token), Accept: "application/vnd.git-lfs+json" },
      json: lfs,
    }),
  };
  const statuses = await Promise.all(
    Object.entries(answers).map(async ([what, answer]) => [what, (await answer).status] as const),
  );
  return Object.fromEntries(statuses);
}

/** The rows of a repository, of events their number alone: a queue may be handling them. */
async function rowsOf({ id }: Pick<TestRepo, "id">) {
  await drawConsequences();
  const rows = await rowsOfRepository(id);
  return { ...rows, events: rows["events"]?.length };
}

describe("a pull request of a fork that rewrites the workflow", () => {
  let scene: Awaited<ReturnType<typeof makeForked>>;
  let stranger: TestUser;
  beforeAll(async () => {
    scene = await makeForked();
    ({ stranger } = scene);
  });

  it("waits for an approval, which its author can't give", async () => {
    const { repo, own, client } = scene;
    const run = runOf(await runsOf(repo), "pull_request");
    expect(run).toMatchObject({ isFromFork: true, needsApproval: true, state: "blocked" });
    expect((await jobsOf(run)).map(({ name, state }) => [name, state])).toEqual([
      ["stolen", "blocked"],
    ]);
    const before = await rowsOf(repo);
    for (const action of ["approve", "rerun", "cancel"]) {
      const answer = await quietly("POST", `${own}/actions/runs/${run.id}/${action}`, {
        as: stranger,
      });
      expect([action, answer.status]).toEqual([action, 403]);
    }
    expect(await rowsOf(repo)).toEqual(before);
    // The one job that is handed out is that of the base.
    const { task } = await client.fetchTask({});
    expect(task?.context).toMatchObject({ event_name: "pull_request_target", job: "checked" });
    expect((await client.fetchTask({ tasksVersion: 0n })).task).toBeUndefined();
    await client.updateTask({ state: { id: task?.id ?? 0n, result: Result.SUCCESS } });
  });

  it("changes nothing of what the base's own file does", async () => {
    const { repo, changed } = scene;
    const runs = await runsOf(repo);
    expect(runs.map(({ event }) => event).toSorted()).toEqual([
      "pull_request",
      "pull_request_target",
    ]);
    const target = runOf(runs, "pull_request_target");
    expect(target).toMatchObject({ isFromFork: false, needsApproval: false });
    expect(target.headOid).not.toBe(changed);
    const [job] = await jobsOf(target);
    expect(job).toMatchObject({ name: "checked", permissions: { contents: "read" } });
    expect(job?.payload).not.toContain("stolen");
  });

  it("gets no secret and a token that reads, also once it is approved", async () => {
    const { owner, repo, own, client } = scene;
    const run = runOf(await runsOf(repo), "pull_request");
    const approved = await quietly("POST", `${own}/actions/runs/${run.id}/approve`, { as: owner });
    expect(approved.status).toBe(204);
    const { task } = await client.fetchTask({ tasksVersion: 0n });
    const token = task?.secrets["GITHUB_TOKEN"] ?? "";
    expect(task?.secrets).toEqual({ GITHUB_TOKEN: token, GITEA_TOKEN: token });
    expect(task?.context).toMatchObject({ token });
    expect(JSON.stringify(task?.context)).not.toContain("hunter2");
    const [stored] = await db
      .select()
      .from(accessTokens)
      .where(eq(accessTokens.taskId, Number(task?.id)));
    expect(new Set(Object.values(stored?.grants ?? {}))).toEqual(new Set([1]));

    const before = await rowsOf(repo);
    expect(await tryToken(token, repo)).toEqual({
      read: 200,
      write: 403,
      issue: 403,
      status: 403,
      dispatch: 403,
      secrets: 403,
      hook: 403,
      fetch: 200,
      push: 403,
      // As for everybody who only reads.
      lfs: 401,
    });
    expect(await rowsOf(repo)).toEqual(before);

    await client.updateTask({ state: { id: task?.id ?? 0n, result: Result.SUCCESS } });
    expect(new Set(Object.values(await tryToken(token, repo)))).toEqual(new Set([401]));
  });
});

describe("the token of a job that has ended", () => {
  it("is refused at every door", async () => {
    const { repo } = await makePushed({
      [PATH]: "on: push\njobs: { a: { runs-on: linux, steps: [{ run: a }] } }\n",
      a: "1\n",
    });
    const client = runnerClient(await makeRunner({ repoId: repo.id }));
    const { task } = await client.fetchTask({});
    const token = task?.secrets["GITHUB_TOKEN"] ?? "";
    expect(await tryToken(token, repo)).toEqual({
      read: 200,
      write: 201,
      issue: 201,
      status: 201,
      dispatch: 422,
      secrets: 403,
      hook: 403,
      fetch: 200,
      push: 200,
      lfs: 200,
    });
    await client.updateTask({ state: { id: task?.id ?? 0n, result: Result.FAILURE } });
    const before = await rowsOf(repo);
    expect(new Set(Object.values(await tryToken(token, repo)))).toEqual(new Set([401]));
    expect(await rowsOf(repo)).toEqual(before);
  });
});
