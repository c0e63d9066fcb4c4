import { sql, type SQL } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { isBlockBetween, isBlockedBy } from "../../auth/access/blocks.ts";
import { eligibleUserIds, reaches } from "../../auth/access/people.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, columnsOf, flagColumn } from "../../db/db.ts";
import { users, type Unit, type User } from "../../db/schema/index.ts";
import { forbidden, invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** The number of assignees that an issue can have: each list of issues shows all of them. */
export const ASSIGNEES_MAX = 50;

/** A named account, and whether it can be assigned issues, and pull requests. */
export interface PossibleAssignee {
  readonly user: User;
  readonly isAssignable: { readonly issues: boolean; readonly pulls: boolean };
  /** Whether a block separates it from the owner, the poster or the caller. */
  readonly isBlocked: boolean;
}

/**
 * Finds the accounts that an issue or pull request is to be assigned to, by name, in any case. `toAssignees` judges them,
 * since the issue may be read at the same time.
 *
 * @param posterId Of the issue or pull request.
 */
export async function findPossibleAssignees(
  ctx: Ctx,
  { row }: RepositoryContext,
  posterId: SQL,
  names: readonly string[],
): Promise<PossibleAssignee[]> {
  if (names.every((name) => name === "")) return [];
  const id = sql`${users.id}`;
  const isEligible = (unit: Unit) => sql`${id} in ${eligibleUserIds(row, "read", [unit])}`;
  const mayRead = (unit: Unit) => sql`(${reaches(id, row, { unit, mode: "read" })})`;
  const isOne = (unit: Unit) => sql`(
    ${users.kind} = 'user' and (${isEligible(unit)} or ${mayRead(unit)})
  )`;
  // SECURITY: an account that is hidden from the caller is known by its role in the repository only.
  const isKnown = anyOf(
    isAccountVisible(principalOf(ctx.actor)),
    isEligible("issues"),
    isEligible("pulls"),
  );
  const lowerNames = JSON.stringify(names.map((name) => name.toLowerCase()));
  const rows = await ctx.db
    .select({
      user: columnsOf(users, "u"),
      issues: flagColumn(isOne("issues"), "is_of_issues"),
      pulls: flagColumn(isOne("pulls"), "is_of_pulls"),
      isBlocked: flagColumn(isBlockedFrom(ctx, id, row.ownerId, posterId), "is_blocked"),
    })
    .from(users)
    .where(
      allOf(
        sql`${users.lowerName} in (select value from json_each(${lowerNames}))`,
        sql`(${isKnown})`,
      ),
    );
  return rows.map(({ user, isBlocked, ...isAssignable }) => ({ user, isBlocked, isAssignable }));
}

/** The condition that a block keeps a user from being assigned by the caller. */
function isBlockedFrom(ctx: Ctx, userId: SQL, ownerId: number, posterId: SQL): SQL {
  const callerId = sql`${ctx.actor.user?.id ?? 0}`;
  return sql`(
    ${isBlockedBy(userId, sql`${ownerId}`, posterId)} or ${isBlockBetween(userId, callerId)}
  )`;
}

/**
 * The users of the given names, each once, in the given order. Empty names are skipped, as in Gitea.
 *
 * @throws Failure `invalid` for a name that no account has which the caller may know, for an organization, for a user
 * who may not read the unit, and for too many names; `forbidden` where a block separates the user from the owner, the
 * poster or the caller.
 */
export function toAssignees(
  unit: "issues" | "pulls",
  names: readonly string[],
  possible: readonly PossibleAssignee[],
): User[] {
  const found = new Map(possible.map((each) => [each.user.lowerName, each]));
  const assignees = new Map<number, User>();
  for (const name of names) {
    if (name === "") continue;
    const one = found.get(name.toLowerCase());
    if (!one) throw invalid(`Assignee does not exist: [name: ${name}]`);
    if (!one.isAssignable[unit]) {
      throw invalid(`${name} can't be an assignee: no access to the ${unit}`);
    }
    if (one.isBlocked) throw forbidden("user is blocked");
    assignees.set(one.user.id, one.user);
  }
  if (assignees.size > ASSIGNEES_MAX) {
    throw invalid(`an issue can have ${ASSIGNEES_MAX} assignees at most`);
  }
  return [...assignees.values()];
}
