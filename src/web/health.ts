import { sql } from "drizzle-orm";
import { Hono } from "hono";

import { formatTime } from "../lib/time.ts";
import type { WebEnv } from "./env.ts";

export const health = new Hono<WebEnv>();

/** Whether the service can do its work, for load balancers and the like: 200 or 503. */
health.get("/api/healthz", async (c) => {
  const { config, db, now } = c.var.base;
  const status = await db.run(sql`select 1`).then(
    () => "pass" as const,
    () => "fail" as const,
  );
  const checks = { "database:ping": [{ status, time: formatTime(now) }] };
  return c.json({ status, description: config.appName, checks }, status === "pass" ? 200 : 503);
});
