import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

/** Brings a database up to date. */
export const migrate = (d1: D1Database): Promise<void> =>
  applyD1Migrations(d1, env.TEST_MIGRATIONS);
