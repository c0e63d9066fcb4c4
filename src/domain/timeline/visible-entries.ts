import { sql, type SQL } from "drizzle-orm";

import { isAllowed } from "../../auth/access/permission.ts";
import { isRepositoryAllowed } from "../../auth/access/visible-repositories.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { issues, repositories, timelineEntries } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isSubmittedOrOwn } from "../comments/written-entries.ts";

/**
 * The condition that the caller may see everything that an entry of a timeline refers to.
 *
 * SECURITY: entries that refer to an issue or a repository that the caller may not see are left out entirely, also out of
 * totals: that there is a reference tells of the other side, as much as its title and its number. So are those of pending
 * reviews by others.
 *
 * @param repo The repository of the timeline.
 */
export const isEntryVisible = ({ actor }: Ctx, repo: RepositoryContext): SQL => {
  const reads = (unit: "issues" | "pulls" | "code") => ({ unit, mode: "read" as const });
  const here = (unit: "issues" | "pulls" | "code") => sql`${isAllowed(repo, reads(unit))}`;
  const there = (unit: "issues" | "pulls" | "code") =>
    isRepositoryAllowed(principalOf(actor), reads(unit));
  const { otherIssueId, otherEntryId, kind, commitRepoId } = timelineEntries;
  // An alias of its own: `issues` may be part of the enclosing query.
  const issueOfEntry = sql`(
    select named.issue_id
    from ${timelineEntries} named
    where named.id = ${otherEntryId}
  )`;
  const isIssueSeen = sql`(
    select case when other.repo_id = ${repo.row.id}
      then iif(other.is_pull, ${here("pulls")}, ${here("issues")})
      else exists (
        select 1
        from ${repositories}
        where ${repositories.id} = other.repo_id
          and iif(other.is_pull, ${there("pulls")}, ${there("issues")})
      ) end
    from ${issues} other
    where other.id = coalesce(${otherIssueId}, ${issueOfEntry})
  )`;
  const isCommitSeen = sql`case when ${commitRepoId} is null or ${commitRepoId} = ${repo.row.id}
    then ${here("code")}
    else exists (
      select 1
      from ${repositories}
      where ${repositories.id} = ${commitRepoId} and ${there("code")}
    ) end`;
  // The deepest part comes last: SQLite refuses expressions of more than a hundred levels, and each `and` is one.
  return sql`(
    ${isSubmittedOrOwn(actor)}
    and (${kind} <> 'commit_ref' or ${isCommitSeen})
    and (coalesce(${otherIssueId}, ${otherEntryId}) is null or ${isIssueSeen})
  )`;
};
