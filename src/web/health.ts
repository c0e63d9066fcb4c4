import { sql } from "drizzle-orm";
import { Hono } from "hono";

import { prepare } from "../db/prepared.ts";
import { formatTime } from "../lib/time.ts";
import type { WebEnv } from "./env.ts";

const ping = prepare((db) => db.select({ one: sql`1` }).from(sql`(select 1)`));

export const health = new Hono<WebEnv>();

/** The health check for load balancers: 200, or 503 if the database does not respond. */
health.get("/api/healthz", async (c) => {
  const { config, db, now } = c.var.base;
  const status = await ping(db, {}).then(
    () => "pass" as const,
    () => "fail" as const,
  );
  const checks = { "database:ping": [{ status, time: formatTime(now) }] };
  return c.json({ status, description: config.appName, checks }, status === "pass" ? 200 : 503);
});
