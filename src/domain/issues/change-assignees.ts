import { and, eq, sql, type SQL } from "drizzle-orm";

import { isBlockedBy, unlessBlocked } from "../../auth/access/blocks.ts";
import { reaches } from "../../auth/access/people.ts";
import type { Ctx } from "../../context.ts";
import { anyOf, isViolation, onlyWhile } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issueAssignees, type Issue, type User } from "../../db/schema/index.ts";
import { recordEach } from "../../events/record.ts";
import { forbidden, invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { unitOf } from "./find-issue.ts";
import { insertEntries } from "./insert-entry.ts";

/** The issue whose assignees change. Id and number are SQL where the same batch inserts it. */
interface AssignableIssue {
  readonly repo: RepositoryContext;
  readonly row: Pick<Issue, "isPull" | "posterId"> & {
    readonly id: number | SQL;
    readonly number: number | SQL;
  };
}

/**
 * The statements that make some users the assignees of an issue, in their order, with a timeline entry and an event for
 * each who is added or removed. They belong into one batch, whose failure `asUnassignable` translates.
 *
 * A batch fails if one who is added can't read the issue, or if a block forbids the assignment at that time.
 */
export function assigneeStatements(
  ctx: Ctx,
  { repo, row }: AssignableIssue,
  wanted: readonly Pick<User, "id">[],
) {
  const { db, now } = ctx;
  const { userId } = issueAssignees;
  const ids = JSON.stringify([...new Set(wanted.map(({ id }) => id))]);
  const isOfIssue = eq(issueAssignees.issueId, sql`${row.id}`);
  const isRemoved = and(isOfIssue, sql`${userId} not in (select value from json_each(${ids}))`);
  const removed = sql`from ${issueAssignees} where ${isRemoved} order by ${issueAssignees}.rowid`;
  const added = sql`
    from json_each(${ids}) wanted
    where not exists (
      select 1 from ${issueAssignees} where ${isOfIssue} and ${userId} = wanted.value
    )
    order by wanted.key`;
  const addedId = sql`wanted.value`;

  const subject = { repoId: repo.row.id, issueId: row.id };
  const event = { ...subject, ownerId: repo.row.ownerId, number: row.number, isPull: row.isPull };
  const entry = { ...subject, kind: "assignees" as const };
  return [
    insertEntries(ctx, { ...entry, assigneeId: sql`${userId}`, isAssigneeRemoved: true }, removed),
    recordEach(ctx, { type: "issue.unassigned", ...event, userId: sql`${userId}` }, removed),
    db.delete(issueAssignees).where(isRemoved),
    insertEntries(ctx, { ...entry, assigneeId: addedId }, added),
    recordEach(ctx, { type: "issue.assigned", ...event, userId: addedId }, added),
    insertSelect(
      db,
      issueAssignees,
      {
        issueId: sql`${row.id}`,
        userId: unlessBlocked(isForbidden(ctx, addedId, repo, row), addedId),
        repoId: onlyWhile(
          reaches(addedId, repo.row, { unit: unitOf(row), mode: "read" }),
          repo.row.id,
        ),
        createdAt: now,
      },
      added,
    ),
  ] as const;
}

/** Whoever the owner or the author blocks is not assigned, and nobody is by those whom they block. */
const isForbidden = (
  { actor }: Ctx,
  assigneeId: SQL,
  { row: { ownerId } }: RepositoryContext,
  { posterId }: AssignableIssue["row"],
): SQL =>
  anyOf(
    isBlockedBy(assigneeId, sql`${ownerId}`, sql`${posterId}`),
    isBlockedBy(sql`${actor.user?.id ?? null}`, assigneeId),
  );

/** What a failed batch means for the caller: the refusal if an assignment was not allowed, otherwise the error itself. */
export function asUnassignable(error: unknown): unknown {
  if (isViolation(error, "NOT NULL", "issue_assignees.user_id"))
    return forbidden("user is blocked");
  if (isViolation(error, "NOT NULL", "issue_assignees.repo_id")) {
    return invalid("user doesn't have access to repo");
  }
  return error;
}
