import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";

import { Result } from "../../src/actions-runner/messages/runner/v1/messages_pb.ts";
import { readRegistrationToken } from "../../src/domain/actions/runners/registration-token.ts";
import {
  actionsCtx,
  findJob,
  findTask,
  makeJob,
  makeRun,
  makeRunner,
  pingClient,
  runnerClient,
  visitRunnerDoor,
} from "../support/actions.ts";
import { make } from "../support/make.ts";

const FORMS = ["binary", "json"] as const;

const post = (path: string, init: RequestInit = {}) =>
  visitRunnerDoor(
    new Request(`http://forge.test/api/actions/${path}`, { method: "POST", ...init }),
  );

describe.each(FORMS)("the life of a runner, by %s", (form) => {
  it("pings, registers, declares, runs a job and reports its end", async () => {
    const repo = await make.repo(await make.user());
    const token = await readRegistrationToken(actionsCtx(), { level: "repository", repo });
    expect(await pingClient(form).ping({ data: "box" })).toMatchObject({ data: "Hello, box!" });
    const { runner } = await runnerClient(undefined, form).register({
      name: "box",
      token,
      version: "v1",
      labels: ["linux"],
    });
    expect(runner).toMatchObject({ name: "box", version: "v1", labels: ["linux"] });
    expect(runner?.token).toMatch(/^[0-9a-f]{40}$/);
    const client = runnerClient(
      { uuid: runner?.uuid, token: runner?.token } as Awaited<ReturnType<typeof makeRunner>>,
      form,
    );
    let capabilities: string | null = "";
    const declared = await client.declare(
      { version: "v2", labels: ["linux", "host"], capabilities: ["cancelling"] },
      { onHeader: (headers) => (capabilities = headers.get("X-Gitea-Actions-Capabilities")) },
    );
    expect(capabilities).toBe("cancelling");
    expect(declared.runner).toMatchObject({ version: "v2", labels: ["linux", "host"], token: "" });
    expect(await client.fetchTask({ tasksVersion: 0n })).toMatchObject({ tasksVersion: 1n });

    const run = await makeRun(repo);
    const job = await makeJob(run, repo);
    const { task, tasksVersion } = await client.fetchTask({ tasksVersion: 1n });
    expect(tasksVersion).toBe(BigInt(job.readySequence));
    expect(new TextDecoder().decode(task?.workflowPayload)).toBe(job.payload);
    expect(task?.context).toMatchObject({
      event: { ref: "refs/heads/main" },
      ref_name: "main",
      repository: `${repo.owner}/${repo.name}`,
      run_id: String(run.id),
    });
    expect(task?.secrets["GITHUB_TOKEN"]).toBe(task?.context?.["token"]);
    const id = task?.id ?? 0n;
    const rows = ["one", "two"].map((content) => ({
      time: { seconds: 1_700_000_000n, nanos: 615_008_800 },
      content,
    }));
    expect(await client.updateLog({ taskId: id, index: 0n, rows })).toMatchObject({ ackIndex: 2n });
    expect(await client.updateLog({ taskId: id, index: 2n, rows: [], noMore: true })).toMatchObject(
      { ackIndex: 2n },
    );
    const answer = await client.updateTask({
      state: {
        id,
        result: Result.SUCCESS,
        steps: [{ id: 0n, result: Result.SUCCESS, logIndex: 0n, logLength: 2n }],
      },
      outputs: { version: "1.2" },
    });
    expect(answer).toMatchObject({
      state: { id, result: Result.SUCCESS },
      sentOutputs: ["version"],
    });
    expect(await findJob(job.id)).toMatchObject({ state: "success", outputs: { version: "1.2" } });
    expect(await findTask(Number(id))).toMatchObject({
      state: "success",
      logRows: 2,
      isLogClosed: true,
      steps: [
        { name: "Run actions/checkout@v4", state: "success", logLength: 2 },
        { name: "Test", state: "skipped" },
      ],
    });
  });

  it("refuses with the codes of Connect", async () => {
    const runner = await makeRunner();
    const stranger = runnerClient({ ...runner, token: "0".repeat(40) }, form);
    const known = runnerClient(runner, form);
    const refusals = await Promise.allSettled([
      stranger.fetchTask({}),
      stranger.declare({ labels: [] }),
      stranger.updateLog({ taskId: 1n }),
      stranger.updateTask({ state: { id: 1n } }),
      runnerClient(undefined, form).register({ name: "x", token: "nothing" }),
      known.updateTask({}),
      known.updateTask({ state: { id: 999_999n } }),
      known.updateLog({ taskId: 999_999n, rows: [{ content: "x" }] }),
      known.declare({ labels: Array.from({ length: 101 }, (_, at) => `l${at}`) }),
    ]);
    expect(refusals.map((each) => (each.status === "rejected" ? each.reason.code : each))).toEqual([
      Code.Unauthenticated,
      Code.Unauthenticated,
      Code.Unauthenticated,
      Code.Unauthenticated,
      Code.Unauthenticated,
      Code.InvalidArgument,
      Code.NotFound,
      Code.NotFound,
      Code.InvalidArgument,
    ]);
  });
});

describe("the transport", () => {
  it.each([
    ["another method", "runner.v1.RunnerService/FetchTask", { method: "GET" }, 405],
    ["an unknown method", "runner.v1.RunnerService/Nothing", {}, 404],
    ["an unknown service", "runner.v2.RunnerService/Register", {}, 404],
    [
      "another type",
      "runner.v1.RunnerService/FetchTask",
      { body: "{}", headers: { "Content-Type": "text/plain" } },
      415,
    ],
    [
      "what is no message",
      "ping.v1.PingService/Ping",
      { body: new Uint8Array([255, 255]), headers: { "Content-Type": "application/proto" } },
      400,
    ],
    [
      "what gzip does not write",
      "ping.v1.PingService/Ping",
      {
        body: new Uint8Array([1, 2, 3]),
        headers: { "Content-Type": "application/proto", "Content-Encoding": "gzip" },
      },
      400,
    ],
  ])("refuses %s", async (_name, path, init: RequestInit, status) => {
    expect((await post(path, init)).status).toBe(status);
  });

  it("words a refusal so that newer runners stop", async () => {
    const response = await post("runner.v1.RunnerService/FetchTask", {
      body: "{}",
      headers: { "Content-Type": "application/json" },
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      code: "unauthenticated",
      message: "unregistered runner",
    });
  });

  it("answers an empty message with no bytes, and a large one by gzip", async () => {
    const empty = await post("ping.v1.PingService/Ping", {
      body: JSON.stringify({ data: "x".repeat(5000) }),
      headers: { "Content-Type": "application/json", "Accept-Encoding": "gzip" },
    });
    expect(empty.headers.get("Content-Encoding")).toBe("gzip");
    const runner = await makeRunner({ labels: [] });
    const answered = await post("runner.v1.RunnerService/UpdateLog", {
      headers: {
        "Content-Type": "application/proto",
        "X-Runner-Uuid": runner.uuid,
        "X-Runner-Token": runner.token,
      },
    });
    expect(answered.status).toBe(404);
  });
});
