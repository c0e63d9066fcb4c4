import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories } from "../../../db/schema/index.ts";
import { forEach } from "../../../lib/for-each.ts";
import type { DoneWork, RepositoryLocation, Work } from "../../../storage/repository-records.ts";

/** Forks that take over concurrently. */
const FORKS_AT_ONCE = 50;

/**
 * Finds which pending forks of a repository exist. Those of a deleted repository take over what
 * they are to have of it: then nothing needs it any more.
 *
 * SECURITY: the row of a fork is written at most an hour after its source noted it, and never once
 * the source is deleted; so one that has no row by then will never have one.
 */
export async function findForks(
  { db, git }: Ctx,
  { networkName }: RepositoryLocation,
  { forkNames, isDiscarded }: Work,
): Promise<Pick<DoneWork, "goneForkNames" | "confirmedForkNames">> {
  if (forkNames.length === 0) return { goneForkNames: [], confirmedForkNames: [] };
  const rows = await db
    .select({ objectName: repositories.objectName })
    .from(repositories)
    .where(
      sql`${repositories.objectName} in (
        select value from json_each(${JSON.stringify(forkNames)})
      )`,
    );
  const found = new Set(rows.map(({ objectName }) => objectName));
  if (!isDiscarded) {
    const goneForkNames = forkNames.filter((name) => !found.has(name));
    return { goneForkNames, confirmedForkNames: [...found] };
  }
  await forEach([...found], FORKS_AT_ONCE, (objectName) =>
    git.repository({ objectName, networkName }).wake(),
  );
  return { goneForkNames: forkNames, confirmedForkNames: [] };
}
