import { asc, desc, eq, sql } from "drizzle-orm";

import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { repositories, users } from "../../../db/schema/index.ts";
import {
  type NotificationFilter,
  type NotificationKinds,
  splitFilter,
  visibleCounts,
} from "./notification-filter.ts";

/** A repository with notifications of a user. */
export interface NotifiedRepository {
  readonly id: number;
  readonly name: string;
  readonly ownerName: string;
  readonly count: number;
}

/** Repositories that are listed, those with the most notifications first. */
const LISTED_MAX = 100;

const counted = derivedTable("counted", "repoId", "count");

/**
 * Lists the repositories of which a user has notifications that the caller may see.
 *
 * Cost: one round trip; rows of counters.
 */
export function listNotifiedRepositories(
  { db, actor }: Ctx,
  filter: Pick<NotificationFilter, "userId" | "statuses" | "subjects">,
): Promise<NotifiedRepository[]> {
  const { range, kinds } = splitFilter(filter);
  const args = { userId: range.userId, principal: principalOf(actor) };
  return notifiedRepositories(db, args, kinds);
}

const total = sql<number>`sum(${counted.count})`;

const notifiedRepositories = prepare(
  (
    db,
    { userId, principal }: Params<{ userId: number; principal: Principal }>,
    kinds: NotificationKinds,
  ) =>
    db
      .select({
        id: repositories.id,
        name: repositories.name,
        ownerName: sql<string>`${users.name}`.as("owner_name"),
        count: total.as("total"),
      })
      .from(sql`(${visibleCounts(principal, { userId }, kinds)}) ${counted}`)
      .innerJoin(repositories, eq(repositories.id, counted.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .groupBy(repositories.id)
      .orderBy(desc(total), asc(repositories.id))
      .limit(LISTED_MAX),
);
