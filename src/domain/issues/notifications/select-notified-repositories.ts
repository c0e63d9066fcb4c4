import { asc, desc, eq, sql } from "drizzle-orm";

import type { PrincipalSql } from "../../../auth/principal.ts";
import type { Database } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import type { Slot } from "../../../db/prepared.ts";
import { repositories, users } from "../../../db/schema/index.ts";
import { type NotificationKinds, visibleCounts } from "./notification-filter.ts";

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

const total = sql<number>`sum(${counted.count})`;

/**
 * Selects the repositories of which a user has notifications that the caller may see. Reads rows of
 * counters.
 */
export const selectNotifiedRepositories = (
  db: Database,
  principal: PrincipalSql,
  userId: Slot<number>,
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
    .limit(LISTED_MAX);
