import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { uncounted } from "./count-d1-calls.ts";

/**
 * Brings a database up to date. Its calls count for no test: they are made by whichever file of a
 * process is the first that opens the database.
 */
export const migrate = (d1: D1Database): Promise<void> =>
  uncounted(() => applyD1Migrations(d1, env.TEST_MIGRATIONS));
