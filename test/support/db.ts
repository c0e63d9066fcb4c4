import { env } from "cloudflare:workers";

import { openDatabase } from "../../src/db/db.ts";

/** The same D1 that the Worker uses. */
export const db = openDatabase(env.DB.withSession());
