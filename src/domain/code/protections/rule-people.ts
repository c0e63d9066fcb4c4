import { eq, type SQL, sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { isMemberOf } from "../../../auth/access/organizations.ts";
import { eligibleUserIds, reachesToWrite } from "../../../auth/access/people.ts";
import { isTeamAmong, isTeamOfRepository, selectTeamsHolding } from "../../../auth/access/teams.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { type Principal, principalOf, type PrincipalSql } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf, type Database, flagColumn } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { branchProtections, users, type User } from "../../../db/schema/index.ts";
import { invalid } from "../../../lib/failure.ts";
import type { RuleNames } from "../../../shapes/repos/rule-names.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { LISTS } from "./rule-lists.ts";

/** The owner of rules. */
export type RuleScope =
  | { readonly kind: "repository"; readonly repo: RepositoryContext }
  | { readonly kind: "organization"; readonly org: User };

/** Users and teams to look up, by name and by id. */
interface PeopleLookup {
  names: { users: readonly string[]; teams: readonly string[] };
  /** `all` for those in any ruleset of the organization, which need not be read first. */
  ids: { users: readonly number[]; teams: readonly number[] } | "all";
}

/** Selects the ids of users or teams on the lists of all rulesets of an organization. */
function selectListed(orgId: number | SQL, field: "userIds" | "teamIds"): SQL {
  const paths = LISTS.map((list) => `$.${list}.${field}`);
  return sql`(
    select listed.value
    from ${branchProtections}, json_tree(${branchProtections.settings}) listed
    where ${branchProtections.ownerId} = ${orgId}
      and listed.path in (select value from json_each(${JSON.stringify(paths)}))
  )`;
}

/**
 * Finds the users and teams that rules name.
 *
 * SECURITY: an account that is hidden from the caller is known by its role in the repository or
 * organization only.
 *
 * Cost: one round trip to the database; none if nobody is named.
 */
export async function findRulePeople(
  ctx: Ctx,
  scope: RuleScope,
  { names, ids }: PeopleLookup,
): Promise<RulePeople> {
  const lists = [names.users, names.teams, ...(ids === "all" ? [] : [ids.users, ids.teams])];
  if (ids !== "all" && lists.every(({ length }) => length === 0)) {
    return new RulePeople(scope, [], []);
  }
  const toLower = (each: readonly string[]) => each.map((name) => name.toLowerCase());
  const { db, actor } = ctx;
  const lookup = {
    principal: principalOf(actor),
    names: { users: toLower(names.users), teams: toLower(names.teams) },
    ids: ids === "all" ? undefined : ids,
  };
  const { people, teams } = await batch(
    db,
    scope.kind === "organization"
      ? peopleOfOrganization(db, { ...lookup, orgId: scope.org.id })
      : peopleOfRepository(db, {
          ...lookup,
          repo: { id: scope.repo.row.id, ownerId: scope.repo.row.ownerId },
          isCodeOn: isUnitOn(scope.repo.row, "code"),
        }),
  );
  return new RulePeople(scope, people, teams);
}

/** The users and teams to look up, as arguments of the queries. */
interface LookupArguments {
  readonly principal: Principal;
  /** In lower case. */
  readonly names: Lists<string>;
  /** Undefined for those in any ruleset of the organization. */
  readonly ids: Lists<number> | undefined;
}

interface Lists<T> {
  readonly users: readonly T[];
  readonly teams: readonly T[];
}

const peopleOfOrganization = prepareAll(
  (db, { principal, names, ids, orgId }: Params<LookupArguments & { orgId: number }>) =>
    selectPeople(db, {
      principal,
      ownerId: orgId,
      names,
      ids: {
        users: ids?.users ?? selectListed(orgId, "userIds"),
        teams: ids?.teams ?? selectListed(orgId, "teamIds"),
      },
      isOne: isMemberOf(orgId, sql`${users.id}`),
      isWriter: sql`1`,
      holds: sql`1`,
    }),
);

interface RepositoryArguments {
  readonly repo: { readonly id: number; readonly ownerId: number };
  readonly isCodeOn: boolean;
}

const peopleOfRepository = prepareAll(
  (
    db,
    { principal, names, ids, repo, isCodeOn }: Params<LookupArguments & RepositoryArguments>,
  ) => {
    const id = sql`${users.id}`;
    return selectPeople(db, {
      principal,
      ownerId: repo.ownerId,
      names,
      ids: { users: ids?.users ?? NOBODY, teams: ids?.teams ?? NOBODY },
      isOne: sql`${id} in ${eligibleUserIds(repo, "read", ["code"])}`,
      isWriter: isCodeOn ? reachesToWrite(id, repo, "code") : sql`0`,
      holds: isTeamOfRepository(repo),
    });
  },
);

const NOBODY = sql`(select null where 0)`;

/** Which users and teams are selected, by SQL. */
interface PeopleSql {
  readonly principal: PrincipalSql;
  readonly ownerId: number | SQL;
  /** Subqueries for names in lower case, and for ids. */
  readonly names: { readonly users: SQL; readonly teams: SQL };
  readonly ids: { readonly users: SQL; readonly teams: SQL };
  /**
   * Whether a user belongs to the repository or organization, and whether they may write the code.
   */
  readonly isOne: SQL;
  readonly isWriter: SQL;
  /** Whether a team belongs there. */
  readonly holds: SQL;
}

function selectPeople(db: Database, p: PeopleSql) {
  const { isOne, isWriter } = p;
  const id = sql`${users.id}`;
  return {
    people: db
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
          anyOf(sql`${users.lowerName} in ${p.names.users}`, sql`${id} in ${p.ids.users}`),
          sql`(${anyOf(isAccountVisible(p.principal), isOne)})`,
        ),
      )
      // Gitea names the owner of a repository last.
      .orderBy(sql`${id} = ${p.ownerId}`, users.id),
    teams: selectTeamsHolding(db, p.ownerId, isTeamAmong(p.ids.teams, p.names.teams), p.holds),
  };
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
   * The ids of teams by name; teams without the repository are left out. A user's repository has no
   * teams.
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
