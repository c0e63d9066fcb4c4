import { sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { isBlockBetween, isBlockedBy } from "../../../auth/access/blocks.ts";
import { eligibleUserIds, type Reach, reachesBy, reachOf } from "../../../auth/access/people.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, anyOf, columnsOf, flagColumn } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues, users, type User } from "../../../db/schema/index.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isNumbered } from "./find-issue.ts";

/** The number of assignees that an issue can have: each list of issues shows all of them. */
export const ASSIGNEES_MAX = 50;

/** A named account, and whether it can be assigned issues, and pull requests. */
export interface PossibleAssignee {
  readonly user: User;
  readonly isAssignable: { readonly issues: boolean; readonly pulls: boolean };
  /** Whether a block separates it from the owner, the poster or the caller. */
  readonly isBlocked: boolean;
}

/** The poster of an issue or pull request: by id, or as that of the issue with a number. */
type Poster = { readonly id: number | null } | { readonly number: number };

/**
 * Finds the accounts that an issue or pull request is to be assigned to, by name, in any case.
 * `toAssignees` checks them, since the issue may be read at the same time.
 */
export async function findPossibleAssignees(
  ctx: Ctx,
  { row }: RepositoryContext,
  poster: Poster,
  names: readonly string[],
): Promise<PossibleAssignee[]> {
  if (names.every((name) => name === "")) return [];
  const rows = await possibleAssignees(
    ctx.db,
    {
      repo: { id: row.id, ownerId: row.ownerId },
      poster,
      lowerNames: names.map((name) => name.toLowerCase()),
      principal: principalOf(ctx.actor),
      callerId: ctx.actor.user?.id ?? 0,
    },
    {
      reach: {
        issues: reachOf(row, { unit: "issues", mode: "read" }),
        pulls: reachOf(row, { unit: "pulls", mode: "read" }),
      },
    },
  );
  return rows.map(({ user, isBlocked, ...isAssignable }) => ({ user, isBlocked, isAssignable }));
}

interface NamedAssignees {
  readonly repo: { readonly id: number; readonly ownerId: number };
  readonly poster: Poster;
  readonly lowerNames: readonly string[];
  readonly principal: Principal;
  /** 0 for nobody. */
  readonly callerId: number;
}

type AssignableUnit = keyof PossibleAssignee["isAssignable"];
type Reaches = Readonly<Record<AssignableUnit, Reach | undefined>>;

const possibleAssignees = prepare(
  (db, p: Params<NamedAssignees>, { reach }: { reach: Reaches }) => {
    const { repo, poster } = p;
    const id = sql`${users.id}`;
    const isEligible = (unit: AssignableUnit) =>
      sql`${id} in ${eligibleUserIds(repo, "read", [unit])}`;
    const mayRead = (unit: AssignableUnit) => {
      const unitReach = reach[unit];
      return sql`(${unitReach ? reachesBy(id, repo, unitReach) : sql`0`})`;
    };
    const isOne = (unit: AssignableUnit) => sql`(
      ${users.kind} = 'user' and (${isEligible(unit)} or ${mayRead(unit)})
    )`;
    // SECURITY: an account that is hidden from the caller is known by its role in the repository
    // only.
    const isKnown = anyOf(isAccountVisible(p.principal), isEligible("issues"), isEligible("pulls"));
    const posterId =
      "id" in poster
        ? poster.id
        : sql`(
            select ${issues.posterId} from ${issues} where ${isNumbered(repo.id, poster.number)}
          )`;
    // Whether a block keeps the user from being assigned by the caller.
    const isBlocked = sql`(
      ${isBlockedBy(id, repo.ownerId, posterId)} or ${isBlockBetween(id, p.callerId)}
    )`;
    return db
      .select({
        user: columnsOf(users, "u"),
        issues: flagColumn(isOne("issues"), "is_of_issues"),
        pulls: flagColumn(isOne("pulls"), "is_of_pulls"),
        isBlocked: flagColumn(isBlocked, "is_blocked"),
      })
      .from(users)
      .where(allOf(sql`${users.lowerName} in ${p.lowerNames}`, sql`(${isKnown})`));
  },
);

/**
 * The users of the given names, each once, in the given order. Empty names are skipped, as in
 * Gitea.
 *
 * @throws Failure `invalid` for a name that no account has which the caller may know, for an
 * organization, for a user who may not read the unit, and for too many names; `forbidden` where a
 * block separates the user from the owner, the poster or the caller.
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
