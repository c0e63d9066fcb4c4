import { create } from "@bufbuild/protobuf";
import { and, asc, eq } from "drizzle-orm";
import { expect, it } from "vitest";

import {
  Result,
  TaskStateSchema,
} from "../../src/actions-runner/messages/runner/v1/messages_pb.ts";
import { commitStatuses } from "../../src/db/schema/index.ts";
import { readLog } from "../../src/domain/actions/tasks/read-log.ts";
import { actionsCtx, makeRunner, runnerClient } from "../support/actions.ts";
import { db } from "../support/db.ts";
import { jobsOf, makePushed, runsOf, statesOf } from "../support/workflow-runs.ts";

const FILE = `
name: CI
on: push
jobs:
  build:
    runs-on: linux
    outputs: { version: "\${{ steps.v.outputs.version }}" }
    steps: [{ id: v, run: make }]
  test:
    needs: build
    runs-on: linux
    steps: [{ run: "make test" }]
`;

it("a runner runs the workflow of a pushed commit, job by job", async () => {
  const { owner, repo, oid } = await makePushed({ ".gitea/workflows/ci.yml": FILE });
  const runner = await makeRunner({ repoId: repo.id });
  const client = runnerClient(runner);

  const first = await client.fetchTask({});
  expect(first.task?.context).toMatchObject({
    event_name: "push",
    sha: oid,
    repository: `${owner.name}/${repo.name}`,
    actor: owner.name,
    job: "build",
  });
  const taskId = first.task?.id ?? 0n;
  expect((await client.fetchTask({ tasksVersion: 0n })).task).toBeUndefined();
  const rows = [{ content: "Hello" }, { content: "world" }];
  expect((await client.updateLog({ taskId, index: 0n, rows, noMore: true })).ackIndex).toBe(2n);
  const state = create(TaskStateSchema, { id: taskId, result: Result.SUCCESS });
  const ended = await client.updateTask({ state, outputs: { version: "1.2" } });
  expect(ended.state?.result).toBe(Result.SUCCESS);
  expect(ended.sentOutputs).toEqual(["version"]);

  const second = await client.fetchTask({ tasksVersion: 0n });
  expect(second.task?.context).toMatchObject({ job: "test" });
  expect(second.task?.needs).toMatchObject({
    build: { outputs: { version: "1.2" }, result: Result.SUCCESS },
  });
  const id = second.task?.id ?? 0n;
  await client.updateTask({ state: create(TaskStateSchema, { id, result: Result.FAILURE }) });

  const [run] = await runsOf(repo);
  expect(await statesOf(run ?? { id: 0 })).toEqual({
    "": "failure",
    build: "success",
    test: "failure",
  });
  const [build] = await jobsOf(run ?? { id: 0 });
  const log = await readLog(actionsCtx(), { id: build?.taskId ?? 0 }, { fromRow: 0, rowCount: 9 });
  expect(log.map(({ text }) => text)).toEqual(["Hello", "world"]);
  const statuses = await db
    .select()
    .from(commitStatuses)
    .where(and(eq(commitStatuses.repoId, repo.id), eq(commitStatuses.commitOid, oid)))
    .orderBy(asc(commitStatuses.number));
  expect(statuses.slice(-3).map(({ context, state: each }) => [context, each])).toEqual([
    ["CI / test (push)", "pending"],
    ["CI / test (push)", "pending"],
    ["CI / test (push)", "failure"],
  ]);
});
