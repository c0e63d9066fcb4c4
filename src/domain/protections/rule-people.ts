import { eq, type SQL, sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { isMemberOf } from "../../auth/access/organizations.ts";
import { eligibleUserIds, reaches } from "../../auth/access/people.ts";
import { isTeamAmong, isTeamOfRepository, selectTeamsHolding } from "../../auth/access/teams.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, flagColumn } from "../../db/db.ts";
import { branchProtections, users, type User } from "../../db/schema/index.ts";
import { invalid } from "../../lib/failure.ts";
import type { RuleNames } from "../../shapes/repos/rule-names.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { LISTS } from "./rule-lists.ts";

/** What rules belong to. */
export type RuleScope =
  | { readonly kind: "repository"; readonly repo: RepositoryContext }
  | { readonly kind: "organization"; readonly org: User };

/** Users and teams to look up, by name and by id. */
interface Wanted {
  names: { users: readonly string[]; teams: readonly string[] };
  /** `all` for those in any ruleset of the organization, which need not be read first. */
  ids: { users: readonly number[]; teams: readonly number[] } | "all";
}

/** Selects the ids of users or teams on the lists of rules. */
function selectIds(scope: RuleScope, ids: Wanted["ids"], kind: "users" | "teams"): SQL {
  if (ids !== "all") return sql`(select value from json_each(${JSON.stringify(ids[kind])}))`;
  const field = kind === "users" ? "userIds" : "teamIds";
  const paths = LISTS.map((list) => `$.${list}.${field}`);
  const ownerId = scope.kind === "organization" ? scope.org.id : 0;
  return sql`(
    select listed.value
    from ${branchProtections}, json_tree(${branchProtections.settings}) listed
    where ${branchProtections.ownerId} = ${ownerId}
      and listed.path in (select value from json_each(${JSON.stringify(paths)}))
  )`;
}

/**
 * Finds the users and teams that rules name.
 *
 * SECURITY: an account that is hidden from the caller is known by its role in the repository or organization only.
 *
 * Cost: one round trip to the database; none if nobody is named.
 */
export async function findRulePeople(
  ctx: Ctx,
  scope: RuleScope,
  { names, ids }: Wanted,
): Promise<RulePeople> {
  const lists = [names.users, names.teams, ...(ids === "all" ? [] : [ids.users, ids.teams])];
  if (ids !== "all" && lists.every(({ length }) => length === 0)) {
    return new RulePeople(scope, [], []);
  }
  const id = sql`${users.id}`;
  const ownerId = scope.kind === "repository" ? scope.repo.row.ownerId : scope.org.id;
  const isOne =
    scope.kind === "repository"
      ? sql`${id} in ${eligibleUserIds(scope.repo.row, "read", ["code"])}`
      : isMemberOf(sql`${ownerId}`, id);
  const isWriter =
    scope.kind === "repository"
      ? reaches(id, scope.repo.row, { unit: "code", mode: "write" })
      : sql`1`;
  const lowerNames = JSON.stringify(names.users.map((name) => name.toLowerCase()));
  const [people, teams] = await ctx.db.batch([
    ctx.db
      .select({
        id: users.id,
        name: users.name,
        lowerName: users.lowerName,
        isOne: flagColumn(isOne, "is_one"),
        isWriter: flagColumn(isWriter, "is_writer"),
      })
      .from(users)
      .where(
        allOf(
          eq(users.kind, "user"),
          anyOf(
            sql`${users.lowerName} in (select value from json_each(${lowerNames}))`,
            sql`${id} in ${selectIds(scope, ids, "users")}`,
          ),
          sql`(${anyOf(isAccountVisible(principalOf(ctx.actor)), isOne)})`,
        ),
      )
      // Gitea names the owner of a repository last.
      .orderBy(sql`${id} = ${ownerId}`, users.id),
    selectTeamsHolding(
      ctx.db,
      ownerId,
      isTeamAmong(selectIds(scope, ids, "teams"), names.teams),
      scope.kind === "repository" ? isTeamOfRepository(scope.repo.row) : sql`1`,
    ),
  ]);
  return new RulePeople(scope, people, teams);
}

interface Person {
  readonly id: number;
  readonly name: string;
  readonly lowerName: string;
  /** Whether they belong to the repository or organization, and whether they may write the code. */
  readonly isOne: boolean;
  readonly isWriter: boolean;
}

/** Users and teams that rules name, as `findRulePeople` finds them. */
export class RulePeople {
  private readonly scope: RuleScope;
  private readonly people: readonly Person[];
  private readonly teams: readonly { id: number; name: string; holds: boolean }[];

  constructor(scope: RuleScope, people: readonly Person[], teams: RulePeople["teams"]) {
    this.scope = scope;
    this.people = people;
    this.teams = teams;
  }

  /** The names to show: of those who still exist and belong there. */
  get names(): RuleNames {
    return {
      users: this.people.filter(({ isOne }) => isOne),
      teams: this.teams.filter(({ holds }) => holds),
    };
  }

  /**
   * The ids of users by name; strangers are left out.
   *
   * @param canWrite Whether those who may not write the code are strangers too.
   * @throws Failure `invalid` for an unknown name.
   */
  userIdsOf(names: readonly string[], canWrite: boolean): number[] {
    const known = new Map(this.people.map((person) => [person.lowerName, person]));
    const ids = names.flatMap((name) => {
      const person = known.get(name.toLowerCase());
      if (!person) throw invalid(`user does not exist [uid: 0, name: ${name}]`);
      return person.isOne && (person.isWriter || !canWrite) ? [person.id] : [];
    });
    return [...new Set(ids)];
  }

  /**
   * The ids of teams by name; teams without the repository are left out. A user's repository has no teams.
   *
   * @throws Failure `invalid` for an unknown name.
   */
  teamIdsOf(names: readonly string[]): number[] {
    const { scope } = this;
    const owner = scope.kind === "repository" ? scope.repo.owner : scope.org;
    if (owner.kind !== "organization") return [];
    const known = new Map(this.teams.map((team) => [team.name.toLowerCase(), team]));
    const ids = names.flatMap((name) => {
      const team = known.get(name.toLowerCase());
      if (!team) {
        throw invalid(`team does not exist [org_id: ${owner.id}, team_id: 0, name: ${name}]`);
      }
      return team.holds ? [team.id] : [];
    });
    return [...new Set(ids)];
  }
}
