import { sql, type SQL } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { isAccountVisible, seesAccount } from "../../../src/auth/access/accounts.ts";
import { accessFacts } from "../../../src/auth/access/facts.ts";
import {
  grantedRepositoryIds,
  reachableRepositoryIds,
} from "../../../src/auth/access/granted-repositories.ts";
import { reaches } from "../../../src/auth/access/people.ts";
import {
  isAllowed,
  modeOf,
  resolvePermission,
  type Permitted,
} from "../../../src/auth/access/permission.ts";
import type { Requirement } from "../../../src/auth/access/requirement.ts";
import {
  isRepositoryAllowed,
  isRepositoryVisibleWith,
  visibilitiesWithoutGrant,
  seesEverythingPublic,
} from "../../../src/auth/access/visible-repositories.ts";
import { callerSql } from "../../../src/auth/caller-sql.ts";
import { principalOf } from "../../../src/auth/principal.ts";
import { ACCESS, repositories, users, type Mode, type User } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { callersOf, expected, type Caller } from "./callers.ts";
import { COLUMNS, GRANTS, SWITCHED } from "./expectation.ts";
import { isMember, makeAccessWorld, type AccessWorld, type Target } from "./world.ts";

// The database evaluates some ten thousand combinations, each in every mode of every unit.
const TIMEOUT = { timeout: 120_000 };

let world: AccessWorld;
let callers: Caller[];
beforeAll(async () => {
  world = await makeAccessWorld();
  callers = callersOf(world);
});

const MODES = ["read", "write", "admin", "owner"] as const;

/** Every possible requirement: a mode in a unit, or in the repository itself. */
const REQUIREMENTS = COLUMNS.flatMap((column): Requirement[] =>
  column === "repository"
    ? [{ mode: "read" }, { mode: "admin" }, { mode: "owner" }]
    : MODES.map((mode) => ({ unit: column, mode })),
);

/**
 * The requirements to test for a narrowed credential, which reaches a repository or not, whatever
 * is required.
 */
const COMMON_REQUIREMENTS = REQUIREMENTS.filter(
  ({ unit, mode }) =>
    unit === undefined || mode === "read" || (unit === "wiki" && mode === "admin"),
);

const meets = (mode: Mode, requirement: Requirement): boolean =>
  ACCESS[mode] >= ACCESS[requirement.mode];

const isExpected = (caller: Caller, target: Target, requirement: Requirement): boolean =>
  meets(expected(caller, target, requirement.unit ?? "repository"), requirement);

const idList = (ids: readonly number[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(ids)}))`;

/** Evaluates conditions for rows of a table by id, in one query. */
async function evaluateRows(
  table: typeof repositories | typeof users,
  ids: readonly number[],
  conditions: readonly SQL[],
): Promise<Map<number, boolean[]>> {
  const flags = conditions.map((each) => sql`(${each}) is true`);
  const query = sql`
    select ${table.id} as id, json_array(${sql.join(flags, sql`, `)}) as flags
    from ${table} where ${table.id} in ${idList(ids)}`;
  // The values are trusted, and there are more than the hundred that D1 can bind.
  const rows = await db.all<{ id: number; flags: string }>(query.inlineParams());
  return new Map(
    rows.map(({ id, flags: text }) => [id, (JSON.parse(text) as number[]).map(Boolean)]),
  );
}

/** Returns those of `ids` that a query selects. */
async function idsAmong(ids: readonly number[], query: SQL): Promise<Set<number>> {
  const rows = await db.all<{ id: number }>(
    sql`select value as id from json_each(${JSON.stringify(ids)}) where value in (${query})`,
  );
  return new Set(rows.map(({ id }) => id));
}

const targetIds = () => world.targets.map(({ repo }) => repo.id);
const nameOf = ({ repo, owner }: Target): string => `${owner.name}/${repo.name}`;

/** The first mismatches between code and tables: a few suffice. */
const firstOf = (mismatches: readonly string[]) => mismatches.slice(0, 20);

describe("the data under test", () => {
  it("has every role, visibility, credential and unit switch", () => {
    const roles = (fields: Partial<User>) =>
      new Set(
        world.people
          .filter(({ user }) =>
            Object.entries(fields).every(([key, value]) => user[key as "id"] === value),
          )
          .map(({ role }) => role),
      );
    expect(roles({ isRestricted: false, isAdmin: false })).toEqual(new Set(GRANTS.keys()));
    expect(roles({ isRestricted: true })).toEqual(new Set(GRANTS.keys()));
    expect(roles({ isAdmin: true })).toContain("owner");
    // Three organizations and five users own repositories: private or not, with each combination of
    // switches.
    expect(world.targets).toHaveLength((3 + 5) * 2 * SWITCHED.size);
    expect(callers).toHaveLength(1 + 4 * world.people.length);
  });
});

describe("a caller's permission in a repository matches the tables", () => {
  it("for a row", TIMEOUT, async () => {
    const mismatches: string[] = [];
    for (const caller of callers) {
      const rows = await db
        .select({ id: repositories.id, ...accessFacts(callerSql(caller.actor)) })
        .from(repositories)
        .where(sql`${repositories.id} in ${idList(targetIds())}`);
      const factsOf = new Map(rows.map((row) => [row.id, row]));
      for (const target of world.targets) {
        const { repo } = target;
        const facts = factsOf.get(repo.id);
        if (!facts) throw new Error("the repository is gone");
        const permitted: Permitted = {
          row: repo,
          permission: resolvePermission(caller.actor, repo, facts),
        };
        const where = `${caller.what} in ${nameOf(target)}`;
        for (const column of COLUMNS) {
          const mode = modeOf(permitted, column === "repository" ? undefined : column);
          const level = expected(caller, target, column);
          if (mode !== ACCESS[level])
            mismatches.push(`${where}: ${column} is ${mode}, not ${level}`);
        }
        for (const each of REQUIREMENTS) {
          const expectation = isExpected(caller, target, each);
          if (isAllowed(permitted, each) !== expectation) {
            mismatches.push(`${where}: ${JSON.stringify(each)} is not ${expectation}`);
          }
        }
      }
    }
    expect(firstOf(mismatches)).toEqual([]);
  });

  it("as a condition for lists", TIMEOUT, async () => {
    const mismatches: string[] = [];
    for (const caller of callers) {
      const isComplete = caller.credential === "full" || caller.credential === "none";
      const requirements = isComplete ? REQUIREMENTS : COMMON_REQUIREMENTS;
      const conditions = requirements.map((each) =>
        isRepositoryAllowed(principalOf(caller.actor), each),
      );
      const found = await evaluateRows(repositories, targetIds(), conditions);
      for (const target of world.targets) {
        for (const [index, each] of requirements.entries()) {
          const expectation = isExpected(caller, target, each);
          if (found.get(target.repo.id)?.[index] !== expectation) {
            mismatches.push(
              `${caller.what} in ${nameOf(target)}: ${JSON.stringify(each)} is not ${expectation}`,
            );
          }
        }
      }
    }
    expect(firstOf(mismatches)).toEqual([]);
  });

  it("as a condition on the users who reach a repository", TIMEOUT, async () => {
    const ids = world.people.map(({ user }) => user.id);
    const full = callers.filter(({ credential }) => credential === "full");
    const mismatches: string[] = [];
    for (const target of world.targets) {
      const conditions = REQUIREMENTS.map((each) => reaches(sql`${users.id}`, target.repo, each));
      const found = await evaluateRows(users, ids, conditions);
      for (const caller of full) {
        for (const [index, each] of REQUIREMENTS.entries()) {
          const expectation = isExpected(caller, target, each);
          if (found.get(caller.person?.user.id ?? 0)?.[index] !== expectation) {
            mismatches.push(
              `${caller.what} in ${nameOf(target)}: ${JSON.stringify(each)} is not ${expectation}`,
            );
          }
        }
      }
    }
    expect(firstOf(mismatches)).toEqual([]);
  });
});

describe("lists that require a unit for some of their rows only", () => {
  it(
    "require the unit where it is needed, and otherwise only that the repository is visible",
    TIMEOUT,
    async () => {
      const mismatches: string[] = [];
      for (const caller of callers) {
        const conditions = (["code", "issues", "repository"] as const).map((needed) =>
          isRepositoryVisibleWith(principalOf(caller.actor), [
            { unit: "code", isNeeded: sql`${needed} = 'code'` },
            { unit: "issues", isNeeded: sql`${needed} = 'issues'` },
          ]),
        );
        const found = await evaluateRows(repositories, targetIds(), conditions);
        for (const target of world.targets) {
          const expectation = (["code", "issues", "repository"] as const).map(
            (column) => expected(caller, target, column) !== "none",
          );
          const got = found.get(target.repo.id);
          if (String(got) !== String(expectation)) {
            mismatches.push(
              `${caller.what} in ${nameOf(target)}: ${String(got)}, not ${String(expectation)}`,
            );
          }
        }
      }
      expect(firstOf(mismatches)).toEqual([]);
    },
  );
});

describe("lists that walk an index", () => {
  it("find exactly the visible repositories by visibility and by grant", async () => {
    const mismatches: string[] = [];
    for (const caller of callers) {
      const { actor } = caller;
      const granted = await idsAmong(targetIds(), grantedRepositoryIds(principalOf(actor)));
      const visibilities = visibilitiesWithoutGrant(principalOf(actor));
      for (const target of world.targets) {
        const { repo } = target;
        const isSeen = expected(caller, target, "repository") !== "none";
        const isVisibleToAll = visibilities.includes(repo.visibility);
        const where = `${caller.what} in ${nameOf(target)}`;
        if (isSeen && !isVisibleToAll && !granted.has(repo.id))
          mismatches.push(`${where}: not found`);
        // Lists check a bound token by a separate condition.
        const isBound = actor.token?.isBound === true;
        if (!isBound && isVisibleToAll && !isSeen)
          mismatches.push(`${where}: visible without a grant, and not seen`);
        if (seesEverythingPublic(principalOf(actor)) && repo.visibility === "public" && !isSeen) {
          mismatches.push(`${where}: public, and not seen`);
        }
      }
    }
    expect(firstOf(mismatches)).toEqual([]);
  });

  it("find the repositories that a user owns, collaborates on or reaches by a team", async () => {
    const mismatches: string[] = [];
    const full = callers.filter(({ credential, person }) => credential === "full" && person);
    for (const caller of full) {
      const user = caller.person?.user as User;
      const reachable = await idsAmong(targetIds(), reachableRepositoryIds(user.id));
      for (const target of world.targets.filter(({ repo }) => repo.isPrivate)) {
        // Administrators see private repositories without a role in them.
        if (user.isAdmin) continue;
        const expectation = expected(caller, target, "repository") !== "none";
        if (reachable.has(target.repo.id) !== expectation) {
          mismatches.push(`${caller.what} in ${nameOf(target)}: is not ${expectation}`);
        }
      }
    }
    expect(firstOf(mismatches)).toEqual([]);
  });
});

describe("which accounts are visible to a caller", () => {
  it("is the same for a row and as a condition for lists", async () => {
    const owners = [...new Map(world.targets.map(({ owner }) => [owner.id, owner])).values()];
    const mismatches: string[] = [];
    for (const { what, actor, person } of callers) {
      const ids = owners.map(({ id }) => id);
      const found = await evaluateRows(users, ids, [isAccountVisible(principalOf(actor))]);
      for (const owner of owners) {
        const belongs =
          owner.kind === "organization" && person !== undefined && isMember(person.role);
        const expectation = seesAccount(actor, owner, belongs);
        if (found.get(owner.id)?.[0] !== expectation)
          mismatches.push(`${what}: ${owner.name} is not ${expectation}`);
      }
    }
    expect(firstOf(mismatches)).toEqual([]);
  });
});
