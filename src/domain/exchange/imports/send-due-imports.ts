import { and, asc, inArray, lt, lte } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { imports } from "../../../db/schema/index.ts";

/** Imports that one run queues; the next run goes on, since those that ran are no longer due. */
const IMPORTS_MAX = 1000;

/**
 * Queues the imports that are due and that no job works on, those first that have waited longest.
 */
export async function sendDueImports({ db, now, remoteJobs }: Ctx): Promise<void> {
  const due = await db
    .select({ importId: imports.id })
    .from(imports)
    .where(
      and(
        lte(imports.dueAt, now),
        lt(imports.leasedUntil, now),
        inArray(imports.state, ["running", "waiting"]),
      ),
    )
    .orderBy(asc(imports.dueAt))
    .limit(IMPORTS_MAX);
  await remoteJobs.send(due.map(({ importId }) => ({ kind: "import", importId }) as const));
}
