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
import { ACCESS, repositories, users, type Mode, type User } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { callersOf, expected, type Caller } from "./callers.ts";
import { COLUMNS, GRANTS, SWITCHED } from "./expectation.ts";
import { isMember, makeAccessWorld, type AccessWorld, type Place } from "./world.ts";

// The database judges some ten thousand situations, each in every mode of every unit.
const TIMEOUT = { timeout: 120_000 };

let world: AccessWorld;
let callers: Caller[];
beforeAll(async () => {
  world = await makeAccessWorld();
  callers = callersOf(world);
});

const MODES = ["read", "write", "admin", "owner"] as const;

/** Everything that may be required: a mode of a unit, or of the repository itself. */
const REQUIREMENTS = COLUMNS.flatMap((column): Requirement[] =>
  column === "repository"
    ? [{ mode: "read" }, { mode: "admin" }, { mode: "owner" }]
    : MODES.map((mode) => ({ unit: column, mode })),
);

/** A credential that narrows reaches a repository or not, whatever is required there: these tell enough. */
const OFTEN_REQUIRED = REQUIREMENTS.filter(
  ({ unit, mode }) =>
    unit === undefined || mode === "read" || (unit === "wiki" && mode === "admin"),
);

const meets = (mode: Mode, requirement: Requirement): boolean =>
  ACCESS[mode] >= ACCESS[requirement.mode];

const isExpected = (caller: Caller, location: Place, requirement: Requirement): boolean =>
  meets(expected(caller, location, requirement.unit ?? "repository"), requirement);

const idList = (ids: readonly number[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(ids)}))`;

/** Which of some conditions hold for each row of a table, by its id: one query for all of them. */
async function judgeRows(
  table: typeof repositories | typeof users,
  ids: readonly number[],
  conditions: readonly SQL[],
): Promise<Map<number, boolean[]>> {
  const flags = conditions.map((each) => sql`(${each}) is true`);
  const query = sql`
    select ${table.id} as id, json_array(${sql.join(flags, sql`, `)}) as flags
    from ${table} where ${table.id} in ${idList(ids)}`;
  // All values are ours, and more than the hundred that D1 binds.
  const rows = await db.all<{ id: number; flags: string }>(query.inlineParams());
  return new Map(
    rows.map(({ id, flags: text }) => [id, (JSON.parse(text) as number[]).map(Boolean)]),
  );
}

/** The ids that a query selects, of those that it is asked about. */
async function idsAmong(ids: readonly number[], query: SQL): Promise<Set<number>> {
  const rows = await db.all<{ id: number }>(
    sql`select value as id from json_each(${JSON.stringify(ids)}) where value in (${query})`,
  );
  return new Set(rows.map(({ id }) => id));
}

const placeIds = () => world.locations.map(({ repo }) => repo.id);
const nameOf = ({ repo, owner }: Place): string => `${owner.name}/${repo.name}`;

/** The first of what was judged otherwise than the tables say: a few tell enough. */
const someOf = (faults: readonly string[]) => faults.slice(0, 20);

describe("the world that is judged", () => {
  it("has every role, visibility, credential and switch in it", () => {
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
    // Of three organizations and five users: private or not, with each combination of switches.
    expect(world.locations).toHaveLength((3 + 5) * 2 * SWITCHED.size);
    expect(callers).toHaveLength(1 + 4 * world.people.length);
  });
});

describe("what a caller may do in a repository is what the tables say", () => {
  it("for a row at hand", TIMEOUT, async () => {
    const faults: string[] = [];
    for (const caller of callers) {
      const rows = await db
        .select({ id: repositories.id, ...accessFacts(callerSql(caller.actor)) })
        .from(repositories)
        .where(sql`${repositories.id} in ${idList(placeIds())}`);
      const factsOf = new Map(rows.map((row) => [row.id, row]));
      for (const location of world.locations) {
        const { repo } = location;
        const facts = factsOf.get(repo.id);
        if (!facts) throw new Error("the repository is gone");
        const permitted: Permitted = {
          row: repo,
          permission: resolvePermission(caller.actor, repo, facts),
        };
        const where = `${caller.what} in ${nameOf(location)}`;
        for (const column of COLUMNS) {
          const mode = modeOf(permitted, column === "repository" ? undefined : column);
          const wanted = expected(caller, location, column);
          if (mode !== ACCESS[wanted]) faults.push(`${where}: ${column} is ${mode}, not ${wanted}`);
        }
        for (const each of REQUIREMENTS) {
          const wanted = isExpected(caller, location, each);
          if (isAllowed(permitted, each) !== wanted) {
            faults.push(`${where}: ${JSON.stringify(each)} is not ${wanted}`);
          }
        }
      }
    }
    expect(someOf(faults)).toEqual([]);
  });

  it("as a condition for lists", TIMEOUT, async () => {
    const faults: string[] = [];
    for (const caller of callers) {
      const isWhole = caller.credential === "full" || caller.credential === "none";
      const asked = isWhole ? REQUIREMENTS : OFTEN_REQUIRED;
      const conditions = asked.map((each) => isRepositoryAllowed(caller.actor, each));
      const found = await judgeRows(repositories, placeIds(), conditions);
      for (const location of world.locations) {
        for (const [at, each] of asked.entries()) {
          const wanted = isExpected(caller, location, each);
          if (found.get(location.repo.id)?.[at] !== wanted) {
            faults.push(
              `${caller.what} in ${nameOf(location)}: ${JSON.stringify(each)} is not ${wanted}`,
            );
          }
        }
      }
    }
    expect(someOf(faults)).toEqual([]);
  });

  it("as the people who reach a repository", TIMEOUT, async () => {
    const ids = world.people.map(({ user }) => user.id);
    const full = callers.filter(({ credential }) => credential === "full");
    const faults: string[] = [];
    for (const location of world.locations) {
      const conditions = REQUIREMENTS.map((each) => reaches(sql`${users.id}`, location.repo, each));
      const found = await judgeRows(users, ids, conditions);
      for (const caller of full) {
        for (const [at, each] of REQUIREMENTS.entries()) {
          const wanted = isExpected(caller, location, each);
          if (found.get(caller.person?.user.id ?? 0)?.[at] !== wanted) {
            faults.push(
              `${caller.what} in ${nameOf(location)}: ${JSON.stringify(each)} is not ${wanted}`,
            );
          }
        }
      }
    }
    expect(someOf(faults)).toEqual([]);
  });
});

describe("lists that need a unit for some of their rows alone", () => {
  it(
    "ask for the unit where it is needed, and else that the repository is seen",
    TIMEOUT,
    async () => {
      const faults: string[] = [];
      for (const caller of callers) {
        const conditions = [sql`1`, sql`0`].map((isNeeded) =>
          isRepositoryVisibleWith(caller.actor, { unit: "code", isNeeded }),
        );
        const found = await judgeRows(repositories, placeIds(), conditions);
        for (const location of world.locations) {
          const wanted = (["code", "repository"] as const).map(
            (column) => expected(caller, location, column) !== "none",
          );
          const got = found.get(location.repo.id);
          if (String(got) !== String(wanted)) {
            faults.push(
              `${caller.what} in ${nameOf(location)}: ${String(got)}, not ${String(wanted)}`,
            );
          }
        }
      }
      expect(someOf(faults)).toEqual([]);
    },
  );
});

describe("lists that walk an index", () => {
  it("find all that is seen among what is open and what was granted, and nothing more", async () => {
    const faults: string[] = [];
    for (const caller of callers) {
      const { actor } = caller;
      const granted = await idsAmong(placeIds(), grantedRepositoryIds(actor));
      const open = visibilitiesWithoutGrant(actor);
      for (const location of world.locations) {
        const { repo } = location;
        const isSeen = expected(caller, location, "repository") !== "none";
        const isOpen = open.includes(repo.visibility);
        const where = `${caller.what} in ${nameOf(location)}`;
        if (isSeen && !isOpen && !granted.has(repo.id)) faults.push(`${where}: not found`);
        // A token that is bound is asked for beside it.
        const isBound = actor.token?.isBound === true;
        if (!isBound && isOpen && !isSeen) faults.push(`${where}: open, and not seen`);
        if (seesEverythingPublic(actor) && repo.visibility === "public" && !isSeen) {
          faults.push(`${where}: public, and not seen`);
        }
      }
    }
    expect(someOf(faults)).toEqual([]);
  });

  it("find what somebody was given a part in: as an owner, a collaborator or by a team", async () => {
    const faults: string[] = [];
    const full = callers.filter(({ credential, person }) => credential === "full" && person);
    for (const caller of full) {
      const user = caller.person?.user as User;
      const reachable = await idsAmong(placeIds(), reachableRepositoryIds(user.id));
      for (const location of world.locations.filter(({ repo }) => repo.isPrivate)) {
        // Nobody but administrators sees of what is private what they have no part in.
        if (user.isAdmin) continue;
        const wanted = expected(caller, location, "repository") !== "none";
        if (reachable.has(location.repo.id) !== wanted) {
          faults.push(`${caller.what} in ${nameOf(location)}: is not ${wanted}`);
        }
      }
    }
    expect(someOf(faults)).toEqual([]);
  });
});

describe("which accounts exist for a caller", () => {
  it("is the same for a row at hand and as a condition for lists", async () => {
    const owners = [...new Map(world.locations.map(({ owner }) => [owner.id, owner])).values()];
    const faults: string[] = [];
    for (const { what, actor, person } of callers) {
      const ids = owners.map(({ id }) => id);
      const found = await judgeRows(users, ids, [isAccountVisible(actor)]);
      for (const owner of owners) {
        const belongs =
          owner.kind === "organization" && person !== undefined && isMember(person.role);
        const wanted = seesAccount(actor, owner, belongs);
        if (found.get(owner.id)?.[0] !== wanted)
          faults.push(`${what}: ${owner.name} is not ${wanted}`);
      }
    }
    expect(someOf(faults)).toEqual([]);
  });
});
