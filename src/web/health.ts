import { sql } from "drizzle-orm";
import { Hono } from "hono";

import { prepare } from "../db/prepared.ts";
import { formatTime } from "../lib/time.ts";
import type { WebEnv } from "./env.ts";

const ping = prepare((db) => db.select({ one: sql`1` }).from(sql`(select 1)`));

export const health = new Hono<WebEnv>();

type Status = "pass" | "fail";

/**
 * The health check for load balancers: 200, or 503 if the database does not respond, or the disk
 * of `npm start` is full, which refuses writes.
 */
health.get("/api/healthz", async (c) => {
  const { config, now } = c.var.base;
  const time = formatTime(now);
  const { database, disk } = await checkHealth(c.var);
  const checks = {
    "database:ping": [{ status: database, time }],
    ...(disk && { "disk:space": [{ status: disk, time }] }),
  };
  const status: Status = database === "fail" || disk === "fail" ? "fail" : "pass";
  return c.json({ status, description: config.appName, checks }, status === "pass" ? 200 : 503);
});

/** Whether the database responds, and whether the disk of `npm start` has place. */
export async function checkHealth({
  base,
  diskSpace,
}: Pick<WebEnv["Variables"], "base" | "diskSpace">): Promise<{
  readonly database: Status;
  readonly disk: Status | undefined;
}> {
  const [database, disk] = await Promise.all([
    statusOf(ping(base.db, {}).then(() => true)),
    diskSpace && statusOf(diskSpace.fetch("http://disk/").then(({ ok }) => ok)),
  ]);
  return { database, disk };
}

async function statusOf(check: Promise<boolean>): Promise<Status> {
  return (await check.catch(() => false)) ? "pass" : "fail";
}
