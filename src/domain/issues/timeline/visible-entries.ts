import { sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isRepositoryAllowed } from "../../../auth/access/visible-repositories.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import type { Params } from "../../../db/prepared.ts";
import { issues, repositories, timelineEntries } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isSubmittedOrBy } from "../comments/written-entries.ts";

/** The units that decide which entries of timelines are visible. */
type TimelineUnit = "issues" | "pulls" | "code";

/** The repository of a timeline and its reader, as an argument of a query. */
export interface TimelineReader {
  readonly repoId: number;
  readonly principal: Principal;
  /** Whether the caller reads a unit of the repository. */
  readonly reads: Readonly<Record<TimelineUnit, boolean>>;
}

export const timelineReaderOf = ({ actor }: Ctx, repo: RepositoryContext): TimelineReader => {
  const reads = (unit: TimelineUnit) => isAllowed(repo, { unit, mode: "read" });
  return {
    repoId: repo.row.id,
    principal: principalOf(actor),
    reads: { issues: reads("issues"), pulls: reads("pulls"), code: reads("code") },
  };
};

// Aliases: the tables may be part of the enclosing query.
const otherIssue = alias(issues, "other_issue");
const otherEntry = alias(timelineEntries, "other_entry");

/**
 * The condition that the caller may see everything that an entry of a timeline refers to.
 *
 * SECURITY: entries that refer to an issue or a repository that the caller may not see are left out
 * entirely, also out of totals: the mere existence of a reference reveals the other side, as much
 * as its title and its number. Entries of pending reviews by others are left out, too.
 */
export const isEntryVisible = ({ repoId, principal, reads }: Params<TimelineReader>): SQL => {
  const here = (unit: TimelineUnit) => sql`${reads[unit]}`;
  const there = (unit: TimelineUnit) => isRepositoryAllowed(principal, { unit, mode: "read" });
  const { otherIssueId, otherEntryId, kind, commitRepoId } = timelineEntries;
  const issueOfEntry = sql`(
    select ${otherEntry.issueId}
    from ${timelineEntries} ${otherEntry}
    where ${otherEntry.id} = ${otherEntryId}
  )`;
  const isIssueSeen = sql`(
    select case when ${otherIssue.repoId} = ${repoId}
      then iif(${otherIssue.isPull}, ${here("pulls")}, ${here("issues")})
      else exists (
        select 1
        from ${repositories}
        where ${repositories.id} = ${otherIssue.repoId}
          and iif(${otherIssue.isPull}, ${there("pulls")}, ${there("issues")})
      ) end
    from ${issues} ${otherIssue}
    where ${otherIssue.id} = coalesce(${otherIssueId}, ${issueOfEntry})
  )`;
  const isCommitSeen = sql`case when ${commitRepoId} is null or ${commitRepoId} = ${repoId}
    then ${here("code")}
    else exists (
      select 1
      from ${repositories}
      where ${repositories.id} = ${commitRepoId} and ${there("code")}
    ) end`;
  // The deepest part comes last: SQLite refuses expressions of more than a hundred levels, and each
  // `and` is one.
  return sql`(
    ${isSubmittedOrBy(principal.userId)}
    and (${kind} <> 'commit_ref' or ${isCommitSeen})
    and (coalesce(${otherIssueId}, ${otherEntryId}) is null or ${isIssueSeen})
  )`;
};
