import { inArray, type SQL, sql } from "drizzle-orm";

import { toCallerSql } from "../../auth/caller-sql.ts";
import type { PrincipalSql } from "../../auth/principal.ts";
import type { Database } from "../../db/db.ts";
import { issues, repositories } from "../../db/schema/index.ts";
import { selectTotal } from "../../db/select-total.ts";
import { selectIssues } from "../issues/find-issue.ts";
import { selectRepositories } from "../repos/find-repository.ts";

/** A page of a list of issues that dependencies link to one. Its numbers may be parameters of a prepared statement. */
interface LinkedPage {
  readonly principal: PrincipalSql;
  /** The repository of the one issue. */
  readonly repoId: number | SQL;
  readonly size: number | SQL;
  readonly offset: number | SQL;
}

/**
 * Selects issues, their repositories and their number: those of the repository first, then by repository, the newest first.
 *
 * @param linked The clauses `from` and `where`, with `issues` and their `repositories`.
 */
export function selectLinked(
  db: Database,
  linked: SQL,
  { principal, repoId, size, offset }: LinkedPage,
) {
  const order = sql`
    ${issues.repoId} <> ${repoId},
    ${issues.repoId},
    ${issues.createdAt} desc,
    ${issues.id} desc`;
  const page = (column: SQL): SQL => sql`(
    select page.id
    from (select ${column} as id ${linked} order by ${order} limit ${size} offset ${offset}) page
  )`;
  return [
    selectIssues(db)
      .where(inArray(issues.id, page(sql`${issues.id}`)))
      .orderBy(order),
    selectRepositories(db, toCallerSql(principal)).where(
      inArray(repositories.id, page(sql`${issues.repoId}`)),
    ),
    selectTotal(db, sql`(select count(*) ${linked})`),
  ] as const;
}
