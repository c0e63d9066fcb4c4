import { desc, eq, max, sql } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { ACTIVITY_KINDS, events, repositories, type User } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "./find-repository.ts";

/** Events of a user that are examined. */
const EXAMINED_MAX = 300;

/**
 * Lists the repositories in which a user acted last, as far as the caller may see them: pushed,
 * opened an issue, commented, and so on.
 *
 * Cost: one round trip, which reads the last 300 events of the user.
 */
export async function listRecentRepositories(
  { db, actor }: Ctx,
  { id }: User,
  size: number,
): Promise<RepositoryContext[]> {
  const rows = await recentRepositories(db, { principal: principalOf(actor), userId: id, size });
  return rows.map((row) => toRepositoryContext(actor, row));
}

interface Recent {
  readonly principal: Principal;
  readonly userId: number;
  readonly size: number;
}

const recentRepositories = prepare((db, { principal, userId, size }: Params<Recent>) => {
  const examined = db
    .select({ repoId: events.repoId, createdAt: events.createdAt })
    .from(events)
    .where(allOf(eq(events.actorId, userId), sql`${events.type} in ${ACTIVITY_KINDS}`))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(EXAMINED_MAX)
    .as("examined");
  const acted = db
    .select({ repoId: examined.repoId, actedAt: max(examined.createdAt).as("acted_at") })
    .from(examined)
    .groupBy(examined.repoId)
    .as("acted");
  return selectRepositories(db, toCallerSql(principal))
    .innerJoin(acted, eq(acted.repoId, repositories.id))
    .where(isRepositoryVisible(principal))
    .orderBy(desc(acted.actedAt), desc(repositories.id))
    .limit(size);
});
