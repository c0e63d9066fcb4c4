import { asc, count, eq, sql } from "drizzle-orm";

import { isRepositoryAllowed } from "../../../auth/access/visible-repositories.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, repositories, stopwatches, users, type User } from "../../../db/schema/index.ts";
import type { StopWatchContext } from "../../../shapes/issues/stop-watch.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/**
 * Lists the running stopwatches of the caller on issues that the caller may still read, oldest
 * first.
 */
export async function listStopwatches(
  { db, actor }: Ctx,
  user: User,
  { size, offset }: Slice,
): Promise<Listed<StopWatchContext>> {
  const listed = { principal: principalOf(actor), userId: user.id, size, offset };
  return toListedPage(await batch(db, runningOf(db, listed)));
}

type StopwatchPage = Slice & { readonly principal: Principal; readonly userId: number };

const runningOf = prepareAll((db, { principal, userId, size, offset }: Params<StopwatchPage>) => {
  const isReadable = ([false, true] as const).map((isPull) =>
    allOf(
      eq(issues.isPull, isPull),
      isRepositoryAllowed(principal, { unit: isPull ? "pulls" : "issues", mode: "read" }),
    ),
  );
  const isListed = allOf(eq(stopwatches.userId, userId), anyOf(...isReadable));
  return {
    rows: db
      .select({
        startedAt: sql<number>`${stopwatches.createdAt}`.as("started_at"),
        number: sql<number>`${issues.number}`.as("issue_number"),
        title: sql<string>`${issues.title}`.as("issue_title"),
        repo: sql<string>`${repositories.name}`.as("repo_name"),
        owner: sql<string>`${users.name}`.as("owner_name"),
      })
      .from(stopwatches)
      .innerJoin(issues, eq(issues.id, stopwatches.issueId))
      .innerJoin(repositories, eq(repositories.id, issues.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(isListed)
      .orderBy(asc(stopwatches.createdAt), asc(stopwatches.issueId))
      .limit(size)
      .offset(offset),
    counted: db
      .select({ total: count().as("total") })
      .from(stopwatches)
      .innerJoin(issues, eq(issues.id, stopwatches.issueId))
      .innerJoin(repositories, eq(repositories.id, issues.repoId))
      .where(isListed),
  };
});
