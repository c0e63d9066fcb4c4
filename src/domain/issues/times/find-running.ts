import { eq, sql } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { issues, repositories, stopwatches, type User } from "../../../db/schema/index.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { isIssueVisible, selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";

/** A running stopwatch. */
interface Running {
  readonly issueId: number;
  /** Undefined if the caller, whose stopwatch it is, can't read the issue any more. */
  readonly issue: IssueContext | undefined;
}

/** Finds the stopwatches of the caller that run: one, as far as no access was lost. */
export async function findRunning(ctx: Ctx, { id }: User): Promise<Running[]> {
  const { db, actor } = ctx;
  const issueIds = sql`(
    select ${stopwatches.issueId} from ${stopwatches} where ${eq(stopwatches.userId, id)}
  )`;
  const { issueRows, repoRows } = await batch(db, {
    issueRows: selectIssues(db).where(sql`${issues.id} in ${issueIds}`),
    repoRows: selectRepositories(db, callerSql(actor)).where(
      sql`${repositories.id} in (
        select ${issues.repoId} from ${issues} where ${issues.id} in ${issueIds}
      )`,
    ),
  });
  return issueRows.map((row) => {
    const repoRow = repoRows.find(({ repo }) => repo.id === row.issue.repoId);
    const repo = repoRow && toRepositoryContext(actor, repoRow);
    const isReadable = repo && isIssueVisible(repo, row.issue);
    return { issueId: row.issue.id, issue: isReadable ? toIssueContext(repo, row) : undefined };
  });
}
