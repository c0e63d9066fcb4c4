import { eq, type SQL, sql } from "drizzle-orm";

import { asBlocked, isBlockedBy, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { issueDependencies, issues } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { conflict, invalid, malformed, notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { type Dependency, requireDependencyWrite } from "./dependency.ts";
import { dependencyEntries } from "./dependency-entries.ts";

/** Maximum issues that one issue waits for. */
export const BLOCKERS_MAX = 100;
/**
 * Maximum issues that are searched for a circle: those for which the blocker waits, directly or
 * not.
 */
const SEARCHED_MAX = 5000;

/**
 * Makes an issue or pull request wait for another one, possibly of another repository.
 *
 * Dependencies never form a circle: the statement that inserts one searches it, so that concurrent
 * calls can't make one either.
 *
 * @param answered The one of the two to return.
 * @throws Failure `not_found` for those who may not write to the blocked issue, and where
 * dependencies are off; `locked` in an archived repository; `malformed` across repositories where
 * the service does not allow it; `conflict` if it waits already; `invalid` for a circle;
 * `forbidden` where the owner of the blocking issue's repository blocks the caller.
 */
export async function addDependency(
  ctx: Ctx,
  dependency: Dependency,
  answered: IssueContext,
): Promise<IssueContext> {
  const { blocked, blocker } = dependency;
  requireDependencyWrite(dependency);
  if (blocked.row.repoId !== blocker.row.repoId && !ctx.config.areForeignDependenciesAllowed) {
    throw malformed("CrossRepositoryDependencies not enabled");
  }
  if (blocked.row.id === blocker.row.id) throw invalid("an issue can't depend on itself");
  const { db } = ctx;
  try {
    const { found } = await batch(db, {
      dependency: insertDependency(ctx, dependency),
      event: record(ctx, {
        type: "issue.dependency_added",
        ...eventSubject(blocked),
        blockerId: blocker.row.id,
      }),
      found: selectIssues(db).where(eq(issues.id, answered.row.id)),
      entries: dependencyEntries(ctx, "add_dependency", dependency),
    });
    const [row] = found;
    if (!row) throw notFound("issue does not exist");
    return toIssueContext(answered.repo, row);
  } catch (error) {
    throw asRefusal(error);
  }
}

function insertDependency({ db, actor, now }: Ctx, { blocked, blocker }: Dependency) {
  const blockedId = blocked.row.id;
  const blockerId = blocker.row.id;
  const isKeptOut = isBlockedBy(sql`${actor.user?.id ?? 0}`, sql`${blocker.repo.row.ownerId}`);
  const hasRoom = sql`(
    select count(*) from ${issueDependencies} where ${issueDependencies.issueId} = ${blockedId}
  ) < ${BLOCKERS_MAX}`;
  return insertSelect(
    db,
    issueDependencies,
    {
      issueId: unlessBlocked(isKeptOut, blockedId),
      blockerId: onlyWhile(hasRoom, blockerId),
      creatorId: actor.user?.id ?? null,
      createdAt: onlyWhile(isAcyclic(blockedId, blockerId), now),
    },
    sql`where true`,
  );
}

/** The issues for which an issue waits, directly or not. */
const walk = derivedTable("walk", "id");

/**
 * The condition that the blocking issue does not wait for the blocked one, found by walking all
 * issues for which it waits. False as well if these are too many to be walked.
 */
const isAcyclic = (blockedId: number, blockerId: number): SQL => sql`(
  with recursive ${walk}(id) as (
    select ${blockerId}
    union
    select ${issueDependencies.blockerId}
    from ${walk}
    join ${issueDependencies} on ${issueDependencies.issueId} = ${walk.id}
    limit ${SEARCHED_MAX + 1}
  )
  select count(*) <= ${SEARCHED_MAX} and not max(${walk.id} = ${blockedId}) from ${walk}
)`;

function asRefusal(error: unknown): unknown {
  if (isViolation(error, "UNIQUE", "issue_dependencies.")) {
    return conflict("the issue depends on the other one already");
  }
  if (isViolation(error, "NOT NULL", "issue_dependencies.created_at")) {
    return invalid("the issues would depend on one another in a circle");
  }
  if (isViolation(error, "NOT NULL", "issue_dependencies.blocker_id")) {
    return invalid(`an issue can depend on ${BLOCKERS_MAX} others at most`);
  }
  if (isViolation(error, "FOREIGN KEY")) return notFound("issue does not exist");
  return asBlocked(error, "issue_dependencies.issue_id");
}
