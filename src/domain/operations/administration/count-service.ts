import { eq, isNotNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { prepare } from "../../../db/prepared.ts";
import {
  accountDeletions,
  hooks,
  imports,
  issues,
  mails,
  packages,
  pullMirrors,
  pushMirrors,
  repositoryTotals,
  sessions,
  users,
} from "../../../db/schema/index.ts";
import { only } from "../../../lib/only.ts";

/** Rows that are counted at most: what has more is counted to this number. */
export const COUNTED_MAX = 10_000;

/** How much there is of what administrators look at. */
export interface ServiceCounts {
  readonly users: number;
  readonly organizations: number;
  /** Exact, of any number. */
  readonly repositories: number;
  readonly issues: number;
  readonly packages: number;
  readonly sessions: number;
  /** Mails that wait to be sent. */
  readonly mails: number;
  readonly failingHooks: number;
  readonly failingMirrors: number;
  readonly stoppedImports: number;
  /** Accounts whose deletion goes on. */
  readonly deletions: number;
}

/**
 * Counts what administrators look at first.
 *
 * Cost: one round trip, and at most `COUNTED_MAX` rows of an index for each count.
 */
export const countService = async ({ db }: Ctx): Promise<ServiceCounts> =>
  only(await serviceCounts(db, {}));

const serviceCounts = prepare((db) => {
  const bounded = (name: string, ...tables: [SQLiteTable, SQL?][]) => {
    const counts = tables.map(
      ([table, condition = sql`1`]) => sql`(
        select count(*) from (select 1 from ${table} where ${condition} limit ${COUNTED_MAX})
      )`,
    );
    return sql<number>`${sql.join(counts, sql` + `)}`.as(name);
  };
  const total = sql`(
    select coalesce(sum(${repositoryTotals.count}), 0)
    from ${repositoryTotals}
    where ${repositoryTotals.visibility} in ('public', 'limited', 'private')
  )`;
  return db
    .select({
      users: bounded("users_counted", [users, eq(users.kind, "user")]),
      organizations: bounded("organizations_counted", [users, eq(users.kind, "organization")]),
      repositories: sql<number>`${total}`.as("repositories_counted"),
      issues: bounded("issues_counted", [issues]),
      packages: bounded("packages_counted", [packages]),
      sessions: bounded("sessions_counted", [sessions]),
      mails: bounded("mails_counted", [mails]),
      failingHooks: bounded("hooks_counted", [hooks, isNotNull(hooks.failingSince)]),
      failingMirrors: bounded(
        "mirrors_counted",
        [pullMirrors, isNotNull(pullMirrors.failingSince)],
        [pushMirrors, isNotNull(pushMirrors.failingSince)],
      ),
      stoppedImports: bounded("imports_counted", [imports, sql`${imports.lastError} <> ''`]),
      deletions: bounded("deletions_counted", [accountDeletions]),
    })
    .from(sql`(select 1)`);
});
