import { and, count, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { commitStatuses, type CommitState, type Repository } from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import type { StatusSummary } from "../../../shapes/git/commit-status.ts";
import { combineStates } from "./list-statuses.ts";

/** The newest statuses of a commit that count: a context may report very often. */
const REPORTS_MAX = 500;

/** States of contexts that let a commit pass. */
const PASSED: ReadonlySet<CommitState> = new Set(["success", "warning", "skipped"]);

/**
 * Summarizes the statuses of a page of commits: the latest of each context, among the newest 500 of
 * a commit. Commits without any are left out.
 *
 * Cost: one round trip, and a row for each status that counts.
 */
export async function summarizeStatuses(
  ctx: Ctx,
  repo: Pick<Repository, "id">,
  commitOids: readonly Oid[],
): Promise<Map<Oid, StatusSummary>> {
  const rows = await statesOf(ctx.db, { repoId: repo.id, oids: JSON.stringify(commitOids) });
  const byCommit = Map.groupBy(rows, ({ commitOid }) => commitOid);
  return new Map(
    Array.from(byCommit, ([commitOid, found]) => {
      const sum = (counted: typeof found) => counted.reduce((total, each) => total + each.count, 0);
      const state = combineStates(new Set(found.map((each) => each.state)));
      const passed = sum(found.filter((each) => PASSED.has(each.state)));
      return [commitOid, { state, total: sum(found), passed }];
    }),
  );
}

/** @param oids JSON of a list of commit ids. */
const statesOf = prepare((db, { repoId, oids }: Params<{ repoId: number; oids: string }>) => {
  const newest = alias(commitStatuses, "newest");
  // Commits come first, so that each bounds the range of the index that is read for it.
  const last = db
    .select({ number: sql<number>`max(${newest.number})`.as("last_number") })
    .from(newest)
    .where(and(eq(newest.repoId, repoId), sql`${newest.commitOid} = asked.value`));
  const latest = db
    .select({
      commitOid: sql<Oid>`${commitStatuses.commitOid}`.as("of_commit"),
      // SQLite takes it from the row with the largest number of the context.
      state: sql<CommitState>`${commitStatuses.state}`.as("latest_state"),
      number: sql<number>`max(${commitStatuses.number})`.as("latest_number"),
    })
    .from(sql`json_each(${oids}) asked`)
    .innerJoin(
      commitStatuses,
      and(
        eq(commitStatuses.repoId, repoId),
        sql`${commitStatuses.commitOid} = asked.value`,
        sql`${commitStatuses.number} > ${last} - ${sql.raw(String(REPORTS_MAX))}`,
      ),
    )
    .groupBy(commitStatuses.commitOid, commitStatuses.context)
    .as("latest");
  return db
    .select({ commitOid: latest.commitOid, state: latest.state, count: count().as("n") })
    .from(latest)
    .groupBy(sql`${latest.commitOid}`, sql`${latest.state}`);
});
