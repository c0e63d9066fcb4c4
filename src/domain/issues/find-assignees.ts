import { sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { isBlockBetween, isBlockedBy } from "../../auth/access/blocks.ts";
import { eligibleUserIds, reaches } from "../../auth/access/people.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf, flagColumn } from "../../db/db.ts";
import { users, type Issue, type User } from "../../db/schema/index.ts";
import { forbidden, invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { unitOf } from "./find-issue.ts";

/** The number of assignees that an issue can have: each list of issues shows all of them. */
export const ASSIGNEES_MAX = 50;

/**
 * Finds the users whom an issue or pull request is to be assigned to, by name, in any case; each once, in the given
 * order. Empty names are skipped, as in Gitea.
 *
 * @throws Failure `invalid` for a name that no account has which the caller may know, for an organization, for a user
 * who may not read the unit, and for too many names; `forbidden` where a block separates the user from the owner, the
 * poster or the caller.
 */
export async function findAssignees(
  ctx: Ctx,
  repo: RepositoryContext,
  issue: AssignedIssue,
  names: readonly string[],
): Promise<User[]> {
  if (names.every((name) => name === "")) return [];
  return toAssignees(names, await selectAssignees(ctx, repo, issue, names));
}

/** The issue or pull request that is to be assigned, which may not exist yet. */
type AssignedIssue = Pick<Issue, "isPull" | "posterId">;

/** The query of `findAssignees`, for a batch; `toAssignees` judges its rows. */
export function selectAssignees(
  ctx: Ctx,
  { row }: RepositoryContext,
  issue: AssignedIssue,
  names: readonly string[],
) {
  const unit = unitOf(issue);
  const id = sql`${users.id}`;
  const isEligible = sql`${id} in ${eligibleUserIds(row, "read", [unit])}`;
  // SECURITY: an account that is hidden from the caller is known by its role in the repository only.
  const isKnown = sql`(${isAccountVisible(ctx.actor)} or ${isEligible})`;
  const mayRead = sql`(${isEligible} or ${reaches(id, row, { unit, mode: "read" })})`;
  const lowerNames = JSON.stringify(names.map((name) => name.toLowerCase()));
  return ctx.db
    .select({
      user: columnsOf(users, "u"),
      isAssignable: flagColumn(sql`(${users.kind} = 'user' and ${mayRead})`, "is_assignable"),
      isBlocked: flagColumn(isBlockedFrom(ctx, id, row.ownerId, issue.posterId), "is_blocked"),
    })
    .from(users)
    .where(sql`${users.lowerName} in (select value from json_each(${lowerNames})) and ${isKnown}`);
}

/** The condition that a block keeps a user from being assigned by the caller. */
function isBlockedFrom(ctx: Ctx, userId: SQL, ownerId: number, posterId: number | null): SQL {
  const callerId = sql`${ctx.actor.user?.id ?? 0}`;
  return sql`(
    ${isBlockedBy(userId, sql`${ownerId}`, sql`${posterId ?? 0}`)}
    or ${isBlockBetween(userId, callerId)}
  )`;
}

/** The users of the given names, from the rows of `selectAssignees`. @throws Failure as `findAssignees`. */
export function toAssignees(
  names: readonly string[],
  rows: Awaited<ReturnType<typeof selectAssignees>>,
): User[] {
  const found = new Map(rows.map((row) => [row.user.lowerName, row]));
  const assignees = new Map<number, User>();
  for (const name of names) {
    if (name === "") continue;
    const row = found.get(name.toLowerCase());
    if (!row) throw invalid(`Assignee does not exist: [name: ${name}]`);
    if (!row.isAssignable) throw invalid(`${name} can't be an assignee: no access to the issues`);
    if (row.isBlocked) throw forbidden("user is blocked");
    assignees.set(row.user.id, row.user);
  }
  if (assignees.size > ASSIGNEES_MAX) {
    throw invalid(`an issue can have ${ASSIGNEES_MAX} assignees at most`);
  }
  return [...assignees.values()];
}
