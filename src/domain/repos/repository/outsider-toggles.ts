import { and, eq, sql, type AnyColumn, type SQL } from "drizzle-orm";

import { reaches } from "../../../auth/access/people.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import type { Ctx } from "../../../context.ts";
import { stars, watches, type Repository } from "../../../db/schema/index.ts";

/**
 * The statements that delete stars and watches of users who may not see a repository.
 *
 * @param repo    The repository as the batch leaves it.
 * @param isAmong The condition on the id of a user to be checked; everybody, if missing.
 */
export function deleteOutsiderToggles(
  { db }: Ctx,
  repo: Repository,
  isAmong: (userId: AnyColumn) => SQL = () => sql`1`,
) {
  const isOutsider = (userId: AnyColumn) =>
    and(isAmong(userId), sql`not ${reaches(sql`${userId}`, repo, TO_SEE)}`);
  return [
    db.delete(stars).where(and(eq(stars.repoId, repo.id), isOutsider(stars.userId))),
    db.delete(watches).where(and(eq(watches.repoId, repo.id), isOutsider(watches.userId))),
  ] as const;
}
