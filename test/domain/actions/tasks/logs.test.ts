import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  actionSecrets,
  discardedWork,
  workflowLogPieces,
  workflowTasks,
} from "../../../../src/db/schema/index.ts";
import { seal } from "../../../../src/auth/seal.ts";
import { SECRET_PURPOSE } from "../../../../src/domain/actions/secrets/secrets.ts";
import { appendLog, type LogAppend } from "../../../../src/domain/actions/tasks/append-log.ts";
import { cleanUpActions } from "../../../../src/domain/actions/clean-up-actions.ts";
import { readLog, streamLog } from "../../../../src/domain/actions/tasks/read-log.ts";
import { takeTask } from "../../../../src/domain/actions/tasks/take-task.ts";
import {
  actionsCtx,
  findTask,
  makeJob,
  makeRun,
  makeRunner,
  NOW,
} from "../../../support/actions.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";

/** A task that runs, with its runner and token. */
async function scene(secrets: Record<string, string> = {}) {
  const repo = await make.repo(await make.user());
  const ctx = actionsCtx();
  for (const [name, value] of Object.entries(secrets)) {
    const sealed = await seal(ctx.config.sealingKeys, value, SECRET_PURPOSE);
    const row = { repoId: repo.id, name, value: sealed, createdAt: NOW, updatedAt: NOW };
    await db.insert(actionSecrets).values(row);
  }
  const runner = await makeRunner({ repoId: repo.id });
  await makeJob(await makeRun(repo), repo);
  const { task } = await takeTask(ctx, runner.credential, 0);
  await ctx.settled();
  if (!task) throw new Error("no task");
  const append = async (index: number, texts: readonly string[], isLast = false) => {
    const each = actionsCtx(NOW + 5000);
    const rows = texts.map((text) => ({ timeMs: 1_795_787_298_615, nanos: 8800, text }));
    const rowCount = await appendLog(each, runner.credential, {
      taskId: task.id,
      index,
      rows,
      isLast,
    } satisfies LogAppend);
    await each.settled();
    return rowCount;
  };
  const read = async (fromRow = 0, rowCount = 1_000_000) =>
    (await readLog(ctx, { id: task.id }, { fromRow, rowCount })).map(({ text }) => text);
  const pieces = () =>
    db.select().from(workflowLogPieces).where(eq(workflowLogPieces.taskId, task.id));
  return { repo, ctx, task, runner, append, read, pieces };
}

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `row ${from + at}`);

describe("appendLog", () => {
  it("stores rows once, whatever is repeated, overlaps, comes late or leaves a gap", async () => {
    const { append, read } = await scene();
    expect(await append(0, numbered(0, 10))).toBe(10);
    expect(await append(0, numbered(0, 10))).toBe(10);
    expect(await append(5, numbered(5, 15))).toBe(15);
    expect(await append(30, numbered(30, 40))).toBe(15);
    expect(await append(2, numbered(2, 4))).toBe(4);
    expect(await append(15, [])).toBe(15);
    expect(await append(15, numbered(15, 16), true)).toBe(16);
    expect(await append(16, [], true)).toBe(16);
    expect(await append(3, numbered(3, 16))).toBe(16);
    await expect(append(16, numbered(16, 20))).rejects.toMatchObject({ kind: "locked" });
    expect(await read()).toEqual(numbered(0, 16));
  });

  it("stores the rows of calls at once, each once and in order", async () => {
    const { append, read } = await scene();
    const sent = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => append(0, numbered(0, 5 + at))),
    );
    expect(sent.some(({ status }) => status === "fulfilled")).toBe(true);
    expect(await append(0, numbered(0, 20), true)).toBe(20);
    expect(await read()).toEqual(numbered(0, 20));
  });

  it("closes a log by a call without rows, but not before its end", async () => {
    const { append, task } = await scene();
    await append(0, numbered(0, 3));
    await append(5, [], true);
    expect(await findTask(task.id)).toMatchObject({ isLogClosed: false });
    await append(3, [], true);
    expect(await findTask(task.id)).toMatchObject({ isLogClosed: true, logRows: 3 });
  });

  it("masks secrets and tokens, cuts long rows and keeps each row one line", async () => {
    const { append, read, task } = await scene({ KEY: "s3cr3t-value", PEM: "line-one\nline-two" });
    const token = String(task.context["token"]);
    const runtimeToken = String(task.context["gitea_runtime_token"]);
    const oid = "b".repeat(40);
    await append(0, [
      "key s3cr3t-value.",
      "pem line-two line-one",
      `token ${token} oid ${oid}`,
      `runtime ${runtimeToken}`,
      "two\nlines\r",
      "x".repeat(70_000),
      "",
    ]);
    const rows = await read();
    expect(rows.slice(0, 5)).toEqual([
      "key ***.",
      "pem *** ***",
      `token *** oid ${oid}`,
      "runtime ***",
      "two\\nlines",
    ]);
    expect([rows[5]?.length, rows[6]]).toEqual([65_536, ""]);
  });

  it("writes lines with seven digits of the second", async () => {
    const { append, ctx, task } = await scene();
    await append(0, ["hello"], true);
    const { logBytes } = await findTask(task.id);
    const text = await new Response(streamLog(ctx, task, { start: 0, end: logBytes })).text();
    expect(text).toBe("2026-11-27T13:48:18.6150088Z hello\n");
  });

  it("joins pieces, so that a log of many calls has few, and reads any part of it", async () => {
    const { append, read, pieces, ctx, task } = await scene();
    for (let at = 0; at < 70; at++) await append(at * 3, numbered(at * 3, at * 3 + 3));
    expect((await pieces()).length).toBeLessThan(40);
    await append(210, [], true);
    expect(await pieces()).toMatchObject([{ firstRow: 0, rowCount: 210 }]);
    expect(await read(100, 5)).toEqual(numbered(100, 105));
    expect(await read(208, 50)).toEqual(numbered(208, 210));
    const { logBytes } = await findTask(task.id);
    const part = await new Response(streamLog(ctx, task, { start: 36, end: 70 })).text();
    const whole = await new Response(streamLog(ctx, task, { start: 0, end: logBytes })).text();
    expect(whole.split("\n").length).toBe(211);
    expect(part).toBe(whole.slice(36, 70));
  });

  it("cuts a log that is too long, and acknowledges the rest", async () => {
    const { append, read, task } = await scene();
    await append(0, ["begin"]);
    await db
      .update(workflowTasks)
      .set({ logBytes: 1024 ** 3 - 10 })
      .where(eq(workflowTasks.id, task.id));
    expect(await append(1, ["x".repeat(50), "more"])).toBe(3);
    expect(await append(3, ["even more"], true)).toBe(4);
    expect(await read()).toEqual([
      "begin",
      "::warning::The log is too long: what follows is not stored.",
    ]);
  });
});

describe("cleanUpActions", () => {
  it("deletes logs past their retention, and those of deleted tasks", async () => {
    const { append, ctx, task, read, pieces } = await scene();
    await append(0, ["old"], true);
    await db
      .update(workflowTasks)
      .set({ state: "success", stoppedAt: NOW })
      .where(eq(workflowTasks.id, task.id));
    await cleanUpActions(actionsCtx(NOW + 364 * 86_400_000));
    expect(await read()).toEqual(["old"]);
    const [piece] = await pieces();
    await cleanUpActions(actionsCtx(NOW + 366 * 86_400_000));
    // A call deletes a bounded part of what it finds, also of what other tests have left.
    for (let calls = 0; calls < 20 && (await db.$count(discardedWork)) > 0; calls++) {
      await cleanUpActions(actionsCtx(NOW + 366 * 86_400_000));
    }
    expect(await findTask(task.id)).toMatchObject({ logDeletedAt: NOW + 366 * 86_400_000 });
    expect([await pieces(), await read()]).toEqual([[], []]);
    expect(piece && (await ctx.git.logFiles.read(piece))).toBeUndefined();
    expect(await db.select().from(discardedWork)).toEqual([]);
  });
});
