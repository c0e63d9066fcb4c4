import { create } from "@bufbuild/protobuf";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  Result,
  TaskStateSchema,
} from "../../../src/actions-runner/messages/runner/v1/messages_pb.ts";
import { workflowTasks } from "../../../src/db/schema/index.ts";
import { makeRunner, runnerClient } from "../../support/actions.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makePushed, runsOf } from "../../support/workflow-runs.ts";

const FILE = `
name: CI
on: push
jobs:
  build:
    runs-on: linux
    steps: [{ name: Prepare, run: a }, { name: "<i>Test</i>", run: b }]
`;

/** A running job of which a runner has the task. */
async function makeRunning() {
  const { owner, repo } = await makePushed({ ".gitea/workflows/ci.yml": FILE });
  const client = runnerClient(await makeRunner({ repoId: repo.id }));
  const { task } = await client.fetchTask({});
  const taskId = task?.id ?? 0n;
  const [run] = await runsOf(repo);
  const path = `/${owner.name}/${repo.name}/actions/runs/${run?.number}/jobs/0`;
  /** Sends rows, and what the runner says of its steps: their first row and their number. */
  const send = async (
    index: number,
    texts: readonly string[],
    steps: readonly (readonly [row: number, count: number, result?: Result])[],
    result?: Result,
  ): Promise<void> => {
    const rows = texts.map((content) => ({ content, time: { seconds: 1_700_000_000n, nanos: 0 } }));
    const noMore = result !== undefined;
    await client.updateLog({ taskId, index: BigInt(index), rows, noMore });
    const state = create(TaskStateSchema, {
      id: taskId,
      ...(result !== undefined && { result }),
      steps: steps.map(([logIndex, logLength, ended], id) => ({
        id: BigInt(id),
        logIndex: BigInt(logIndex),
        logLength: BigInt(logLength),
        startedAt: { seconds: 1_700_000_000n, nanos: 0 },
        ...(ended !== undefined && {
          result: ended,
          stoppedAt: { seconds: 1_700_000_065n, nanos: 0 },
        }),
      })),
    });
    await client.updateTask({ state });
  };
  return { path, send, taskId: Number(taskId), repo };
}

const bodyOf = async (path: string): Promise<string> => {
  const answer = await visit("GET", path);
  expect(answer.status, path).toBe(200);
  return String(answer.body);
};

/** The texts of the rows of a page by their addresses. */
const rowsIn = (body: string): Record<string, string> =>
  Object.fromEntries(
    [...body.matchAll(/<span id="(\d+-\d+)"[^>]*>(?:<a [^>]*>\d+<\/a>)?([^]*?)\n<\/span>/g)].map(
      ([, id = "", text = ""]) => [id, text],
    ),
  );

describe("the log of a job", () => {
  it("is shown by steps, each row with its address", async () => {
    const { path, send } = await makeRunning();
    const { SUCCESS, FAILURE } = Result;
    await send(
      0,
      ["set up", "one", "two", "bad", "done"],
      [
        [1, 2, SUCCESS],
        [3, 1, FAILURE],
      ],
      FAILURE,
    );
    const body = await bodyOf(path);
    expect(rowsIn(body)).toEqual({
      "0-1": "set up",
      "1-1": "one",
      "1-2": "two",
      "2-1": "bad",
      "3-1": "done",
    });
    expect(body).toContain('<a href="#1-2">2</a>');
    expect(body).toContain("&lt;i&gt;Test&lt;/i&gt;");
    expect(body).toContain("1m5s");
    // The step that failed is open.
    expect(body).toMatch(/<details class="log-step" open=""[^>]*data-step="2"/);
    expect(body).not.toContain("2023-11-14");
    expect(await bodyOf(`${path}?times=on`)).toContain("<i>2023-11-14T22:13:20Z </i>");
  });

  it("shows commands and colors, and nothing of a row is markup", async () => {
    const { path, send } = await makeRunning();
    const texts = [
      "::group::Install <b>",
      "inside",
      "::endgroup::",
      "##[error]<script>1</script>",
      "::warning file=a.ts,line=1::100%25 sure",
      "\u001B[1;31mred\u001B[0m \u001B]8;;javascript:alert(1)\u0007link\u001B[2J",
      "\u001B[38;5;9m<img src=x>\u001B[38;2;1;2;3mplain",
      "::add-mask::x</pre></div>",
    ];
    await send(0, texts, [[0, texts.length, Result.SUCCESS]], Result.SUCCESS);
    const body = await bodyOf(path);
    expect(body).toMatch(/<details><summary><span id="1-1" class="row-group">Install &lt;b&gt;\n/);
    const rows = rowsIn(body);
    expect(rows).not.toHaveProperty("1-3");
    expect(rows["1-4"]).toBe("<b>Error: </b>&lt;script&gt;1&lt;/script&gt;");
    expect(rows["1-5"]).toBe("<b>Warning: </b>100% sure");
    expect(rows["1-6"]).toBe('<span class="t1 t31">red</span> link');
    expect(rows["1-7"]).toBe('<span class="t91">&lt;img src=x&gt;</span>plain');
    expect(rows["1-8"]).toBe("::add-mask::x&lt;/pre&gt;&lt;/div&gt;");
  });

  it("has at most 2,000 rows of a step on a page, with the way to the others", async () => {
    const { path, send } = await makeRunning();
    const texts = Array.from({ length: 4100 }, (_, at) => `row ${at + 1}`);
    await send(
      0,
      texts,
      [
        [0, 10, Result.SUCCESS],
        [10, 4090, Result.SUCCESS],
      ],
      Result.SUCCESS,
    );
    const last = await bodyOf(path);
    expect(Object.keys(rowsIn(last))).toHaveLength(2000);
    expect(last).toContain('href="?step=1&amp;from=0"');
    expect(last).toContain('href="?step=2&amp;from=2000"');
    const next = rowsIn(await bodyOf(`${path}?step=2&from=4000`));
    expect(Object.entries(next)[0]).toEqual(["2-4001", "row 4011"]);
    expect(Object.keys(next)).toHaveLength(90);
    expect(Object.keys(rowsIn(await bodyOf(`${path}?step=2&from=999999`)))).toEqual([]);
  });

  it("is searched, and leads to each row that is found", async () => {
    const { path, send } = await makeRunning();
    await send(0, ["a", "Needle <1>", "b"], [[0, 3, Result.SUCCESS]], Result.SUCCESS);
    const body = await bodyOf(`${path}?q=needle`);
    expect(body).toContain(`href="${path}?step=1&amp;from=0#1-2"`);
    expect(body).toContain("Needle &lt;1&gt;");
    expect(await bodyOf(`${path}?q=nothing`)).toContain("No row has this text.");
  });

  it("is followed while the job runs", async () => {
    const { path, send } = await makeRunning();
    await send(0, ["set up", "one"], [[1, 1]]);
    expect(await bodyOf(path)).toContain(`data-logs="${path}/logs?attempt=1"`);
    const ask = async (from: number) =>
      (await visit("GET", `${path}/logs?step=1&from=${from}`)).body;
    expect(await ask(0)).toMatchObject({ isDone: false, next: 1 });
    await send(2, ["two"], [[1, 2]]);
    const more = await ask(1);
    expect(more).toMatchObject({ isDone: false, next: 2 });
    expect(rowsIn(String(more.html))).toEqual({ "1-2": "two" });
    expect(more.sections[1]).toMatchObject({ index: 1, state: "running", rowCount: 2 });
    await send(3, ["end"], [[1, 2, Result.SUCCESS]], Result.SUCCESS);
    expect(await ask(2)).toMatchObject({ isDone: true, next: 2, html: "" });
    expect((await visit("GET", `${path}/logs?step=9`)).status).toBe(404);
    expect(await bodyOf(path)).not.toContain("data-logs");
  });

  it("is sent as a file", async () => {
    const { path, send } = await makeRunning();
    await send(0, ["one", "two"], [[0, 2, Result.SUCCESS]], Result.SUCCESS);
    const answer = await visit("GET", `${path}/logs`);
    expect(answer.headers.get("content-type")).toContain("text/plain");
    expect(answer.headers.get("content-disposition")).toContain("attachment");
    expect(String(answer.body)).toMatch(/^2023-11-14T22:13:20\.0000000Z one\n/);
  });

  it("bears what a runner claims of its steps", async () => {
    const { path, send } = await makeRunning();
    await send(
      0,
      ["a", "b"],
      [
        [1_000_000, 5, Result.SUCCESS],
        [0, 9_000_000, Result.SUCCESS],
      ],
      Result.SUCCESS,
    );
    expect(Object.values(rowsIn(await bodyOf(path))).length).toBeGreaterThan(0);
  });

  it("is gone where it was deleted", async () => {
    const { path, send, taskId } = await makeRunning();
    await send(0, ["a"], [[0, 1, Result.SUCCESS]], Result.SUCCESS);
    await db.update(workflowTasks).set({ logDeletedAt: 1 }).where(eq(workflowTasks.id, taskId));
    expect(await bodyOf(path)).toContain("has been deleted");
    expect((await visit("GET", `${path}/logs`)).status).toBe(404);
  });
});

describe("the attempts at a job", () => {
  let path: string;
  beforeAll(async () => {
    const made = await makeRunning();
    path = made.path;
    await made.send(0, ["first"], [[0, 1, Result.FAILURE]], Result.FAILURE);
    const [row] = await db.select().from(workflowTasks).where(eq(workflowTasks.id, made.taskId));
    const copy = { ...row, id: undefined, tokenHash: "x", attempt: 0, logRows: 0, logBytes: 0 };
    await db.insert(workflowTasks).values(copy as typeof workflowTasks.$inferInsert);
  });

  it("are listed, and the last one is shown", async () => {
    const body = await bodyOf(path);
    expect(body).toContain("first");
    expect(body).toContain(`href="${path}?attempt=0"`);
    expect(rowsIn(await bodyOf(`${path}?attempt=0`))).toEqual({});
  });

  it("are not found by another number", async () => {
    expect((await visit("GET", `${path}?attempt=7`)).status).toBe(404);
    expect((await visit("GET", `${path}?attempt=x`)).status).toBe(404);
  });
});
