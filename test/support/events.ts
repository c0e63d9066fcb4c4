import { asc, eq } from "drizzle-orm";

import { events } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

/** What was recorded of an account, oldest first: nothing, for one that `make` inserted. */
export const eventsOf = (account: { id: number }) =>
  db.select().from(events).where(eq(events.ownerId, account.id)).orderBy(asc(events.id));
