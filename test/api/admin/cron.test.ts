import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { auditEvents, cronRuns } from "../../../src/db/schema/index.ts";
import { handleSchedule } from "../../../src/jobs/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";

const TASK = "cleanup_audit_log";
const DAY_MS = 24 * 60 * 60 * 1000;

interface Task {
  name: string;
  schedule: string;
  next: string;
  prev: string;
  exec_times: number;
}

async function taskOf(name: string): Promise<Task> {
  const { status, body } = await call("GET", "/admin/cron?limit=50", { as: await make.admin() });
  expect(status).toBe(200);
  const task = body.find((each: Task) => each.name === name);
  expect(task, name).toBeDefined();
  return task;
}

/** An entry of the audit log that is past every retention. */
async function makeExpired(): Promise<string> {
  const name = freshName("gone");
  await db.insert(auditEvents).values({
    kind: "email.added",
    actorId: 0,
    actorName: name,
    credential: "none",
    ownerId: 0,
    ownerName: name,
    details: {},
    requestId: "",
    createdAt: Date.now() - 40_000 * DAY_MS,
  });
  return name;
}

const entriesOf = (name: string) =>
  db.select().from(auditEvents).where(eq(auditEvents.actorName, name));

describe("GET /admin/cron", () => {
  it("lists the tasks with their schedules and runs, by page", async () => {
    await db.delete(cronRuns).where(eq(cronRuns.task, TASK));
    expect(await taskOf(TASK)).toMatchObject({
      schedule: "*/10 * * * *",
      prev: "1970-01-01T00:00:00Z",
      exec_times: 0,
    });
    const before = Date.now();
    const next = Date.parse((await taskOf(TASK)).next);
    expect(next).toBeGreaterThan(before - 1000);
    expect(next).toBeLessThanOrEqual(before + 10 * 60_000);
    expect(next % (10 * 60_000)).toBe(0);

    const first = await call("GET", "/admin/cron?limit=2&page=2", { as: await make.admin() });
    expect(first.body).toHaveLength(2);
    expect(Number(first.headers.get("X-Total-Count"))).toBeGreaterThan(4);
  });

  it("counts the runs of the schedule", async () => {
    const { exec_times: earlier } = await taskOf(TASK);
    const now = Math.floor(Date.now() / 1000) * 1000;
    await handleSchedule("*/10 * * * *", systemCtx({}, now));
    await handleSchedule("* * * * *", systemCtx({}, now));
    const task = await taskOf(TASK);
    expect(task.exec_times).toBe(earlier + 1);
    expect(Date.parse(task.prev)).toBe(now);
    expect((await taskOf("delete_accounts")).exec_times).toBeGreaterThan(0);
  });

  it("is for administrators", async () => {
    expect((await call("GET", "/admin/cron")).status).toBe(401);
    expect((await call("GET", "/admin/cron", { as: await make.user() })).status).toBe(403);
  });
});

describe("POST /admin/cron/{task}", () => {
  it("runs the task, counts the run, and records who asked for it", async () => {
    const admin = await make.admin();
    const name = await makeExpired();
    const { exec_times: earlier } = await taskOf(TASK);

    expect((await call("POST", `/admin/cron/${TASK}`, { as: admin })).status).toBe(204);

    expect(await entriesOf(name)).toEqual([]);
    const task = await taskOf(TASK);
    expect(task.exec_times).toBe(earlier + 1);
    expect(Date.now() - Date.parse(task.prev)).toBeLessThan(60_000);
    expect(
      await db.select().from(auditEvents).where(eq(auditEvents.actorId, admin.id)),
    ).toMatchObject([{ kind: "cron.run", target: TASK, ownerId: 0 }]);
  });

  it("refuses others, and runs nothing", async () => {
    const name = await makeExpired();
    const reader = await make.token(await make.admin(), { scopes: "read:admin" });
    expect((await call("POST", `/admin/cron/${TASK}`)).status).toBe(401);
    expect((await call("POST", `/admin/cron/${TASK}`, { as: await make.user() })).status).toBe(403);
    expect((await call("POST", `/admin/cron/${TASK}`, { token: reader })).status).toBe(403);
    expect(await entriesOf(name)).toHaveLength(1);
  });

  it("does not know other tasks", async () => {
    const answer = await call("POST", "/admin/cron/nothing", { as: await make.admin() });
    expect(answer).toMatchObject({ status: 404, body: "" });
    expect(await db.select().from(cronRuns).where(eq(cronRuns.task, "nothing"))).toEqual([]);
  });
});
