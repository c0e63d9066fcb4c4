import { sqliteTable, integer } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";

import { findCrossings } from "../../../scripts/check/crossings/find-crossings.ts";
import { compareWithKnown, shrinkKnown } from "../../../scripts/check/crossings/known.ts";
import {
  findForeignKeys,
  findTriggers,
} from "../../../scripts/check/crossings/schema-crossings.ts";
import type { Side } from "../../../scripts/check/crossings/sides.ts";

const SIDES = new Map<string, Side>([
  ["users", "first"],
  ["repositories", "first"],
  ["issues", "own"],
  ["timeline_entries", "own"],
  ["events", "each"],
  ["teams", "copied"],
]);
const NAMES = new Map([
  ["users", "users"],
  ["repositories", "repositories"],
  ["issues", "issues"],
  ["timelineEntries", "timeline_entries"],
  ["events", "events"],
  ["teams", "teams"],
]);

const crossingsOf = (files: Record<string, string>) =>
  Object.fromEntries(findCrossings(new Map(Object.entries(files)), { names: NAMES, sides: SIDES }));

const IMPORTS = `import { users } from "../db/schema/accounts.ts";
import { issues, timelineEntries as entries } from "../db/schema/issues.ts";
`;

describe("crossings of databases", () => {
  it("are functions that join tables of both sides", () => {
    const text = `${IMPORTS}
export async function listIssues(db) {
  return db.select().from(issues).innerJoin(users, eq(users.id, issues.posterId));
}`;
    expect(crossingsOf({ "src/domain/a.ts": text })).toEqual({
      "src/domain/a.ts listIssues": { first: ["users"], own: ["issues"] },
    });
  });

  it("are not functions that name tables of one side, or an event beside them", () => {
    const text = `${IMPORTS}import { events } from "../db/schema/events.ts";

export const findUser = (db) => db.select().from(users);

export async function closeIssue(db) {
  await db.batch([db.update(issues).set({}), db.insert(events).values({})]);
}`;
    expect(crossingsOf({ "src/domain/a.ts": text })).toEqual({});
  });

  it("are found in SQL text", () => {
    const text =
      "export const OPEN = sql`select 1 from issues i join users u on u.id = i.poster_id`;";
    expect(Object.keys(crossingsOf({ "src/domain/a.ts": text }))).toEqual(["src/domain/a.ts OPEN"]);
  });

  it("are found through fragments of other files, and of the same one", () => {
    const files = {
      "src/domain/fragments.ts": `${IMPORTS}
export const isVisible = () => exists(select(users));
export const ofUsers = () => and(isVisible());`,
      "src/domain/list.ts": `import { issues } from "../db/schema/issues.ts";
import {
  type Other,
  ofUsers as visible,
} from "./fragments.ts";
export async function list(db) {
  return db.select().from(issues).where(visible());
}`,
    };
    expect(crossingsOf(files)).toEqual({
      "src/domain/list.ts list": { first: ["users"], own: ["issues"] },
    });
  });

  it("are not functions that send one statement after the other by functions of each side", () => {
    const text = `${IMPORTS}
async function findPoster(db, id) {
  return await db.select().from(users).where(eq(users.id, id));
}
export async function findIssue(db) {
  const issue = await db.select().from(issues).where(eq(issues.id, 1));
  return { issue, poster: await findPoster(db, issue.posterId) };
}`;
    expect(crossingsOf({ "src/domain/a.ts": text })).toEqual({});
  });

  it("are not functions that read a copied table with own ones, but those that write it", () => {
    const teams = 'import { teams } from "../db/schema/teams.ts";';
    const read = `${IMPORTS}${teams}
export async function listIssues(db) {
  return db.select().from(issues).innerJoin(teams, eq(teams.id, issues.teamId));
}`;
    const written = `${IMPORTS}${teams}
export async function deleteTeam(db) {
  await db.batch([db.delete(teams), db.update(issues).set({})]);
}`;
    const inSql =
      "export const CLEAR = sql`update teams set n = (select count(*) from issues where team_id = id)`;";
    expect(crossingsOf({ "src/domain/a.ts": read })).toEqual({});
    expect(crossingsOf({ "src/domain/a.ts": written })).toEqual({
      "src/domain/a.ts deleteTeam": { first: ["teams"], own: ["issues"] },
    });
    expect(Object.keys(crossingsOf({ "src/domain/a.ts": inSql }))).toEqual([
      "src/domain/a.ts CLEAR",
    ]);
  });

  it("are not what finds out who the caller is in a statement, but other uses of the same tables", () => {
    const caller = `import { users } from "../db/schema/accounts.ts";
export const matches = (name) => eq(users.name, name);
export const toCallerSql = (name) => and(exists(users), matches(name));
export const callerSql = (name) => and(toCallerSql(name));`;
    const list = (fragment: string) => `import { issues } from "../db/schema/issues.ts";
import { ${fragment} as fragment } from "../auth/caller-sql.ts";
export const list = (db) => db.select().from(issues).where(fragment("a"));`;
    const found = (fragment: string) =>
      crossingsOf({ "src/auth/caller-sql.ts": caller, "src/domain/list.ts": list(fragment) });
    expect(found("toCallerSql")).toEqual({});
    expect(found("callerSql")).toEqual({});
    expect(found("matches")).toEqual({
      "src/domain/list.ts list": { first: ["users"], own: ["issues"] },
    });
  });

  it("are found where a table is spread", () => {
    const text = `${IMPORTS}
export const both = (db) => db.select({ ...issues, ...users }).from(view);`;
    expect(Object.keys(crossingsOf({ "src/domain/a.ts": text }))).toEqual(["src/domain/a.ts both"]);
  });

  it("are not names of properties, keys and comments", () => {
    const text = `${IMPORTS}
/** Not of users. */
export async function findIssue(db, row) {
  // Nor are these users.
  return { users: row.users, issue: await db.select().from(issues) };
}`;
    expect(crossingsOf({ "src/domain/a.ts": text })).toEqual({});
  });
});

describe("crossings of the schema", () => {
  it("are foreign keys to the other side", () => {
    const users = sqliteTable("users", { id: integer().primaryKey() });
    const issues = sqliteTable("issues", {
      id: integer().primaryKey(),
      posterId: integer().references(() => users.id),
    });
    const entries = sqliteTable("timeline_entries", {
      issueId: integer().references(() => issues.id),
    });
    expect(findForeignKeys([users, issues, entries], SIDES)).toEqual(["issues.posterId -> users"]);
  });

  it("are not foreign keys to a copied table, but those from it", () => {
    const users = sqliteTable("users", { id: integer().primaryKey() });
    const teams = sqliteTable("teams", {
      id: integer().primaryKey(),
      ownerId: integer().references(() => users.id),
    });
    const issues = sqliteTable("issues", { teamId: integer().references(() => teams.id) });
    expect(findForeignKeys([users, teams, issues], SIDES)).toEqual(["teams.ownerId -> users"]);
  });

  it("are triggers that name tables of both sides, as the last migration left them", () => {
    const migrations = [
      `CREATE TRIGGER counted AFTER INSERT ON issues BEGIN UPDATE repositories SET n = n + 1; END;
--> statement-breakpoint
CREATE TRIGGER gone AFTER INSERT ON issues BEGIN DELETE FROM users; END;
--> statement-breakpoint
CREATE TRIGGER kept AFTER INSERT ON issues BEGIN DELETE FROM timeline_entries; END;`,
      "DROP TRIGGER gone;",
    ];
    expect(findTriggers(migrations, SIDES)).toEqual(["counted: issues repositories"]);
  });

  it("are not triggers of a copied table, which fire where the copy is, but those that write it", () => {
    const migrations = [
      `CREATE TRIGGER renamed AFTER UPDATE OF name ON teams BEGIN UPDATE issues SET n = 1; END;
--> statement-breakpoint
CREATE TRIGGER asked AFTER INSERT ON issues WHEN new.n > (SELECT 1 FROM teams) BEGIN DELETE FROM timeline_entries; END;
--> statement-breakpoint
CREATE TRIGGER counted AFTER INSERT ON issues BEGIN UPDATE teams SET n = n + 1; END;`,
    ];
    expect(findTriggers(migrations, SIDES)).toEqual(["counted: issues teams"]);
  });
});

describe("the list of crossings", () => {
  const none = { functions: {}, foreignKeys: [], triggers: [] };
  const one = { ...none, functions: { "a.ts f": { first: ["users"], own: ["issues"] } } };
  const more = {
    ...none,
    functions: { "a.ts f": { first: ["users"], own: ["issues", "labels"] } },
  };

  it("refuses a new function, a further table of a known one, a foreign key and a trigger", () => {
    expect(compareWithKnown(one, one)).toEqual([]);
    expect(compareWithKnown(one, none)).toEqual([
      "a.ts f joins users with issues: users, issues is new",
    ]);
    expect(compareWithKnown(more, one)).toEqual([
      "a.ts f joins users with issues, labels: labels is new",
    ]);
    expect(compareWithKnown({ ...none, foreignKeys: ["k"], triggers: ["t"] }, none)).toEqual([
      "a foreign key crosses the databases: k",
      "a trigger crosses the databases: t",
    ]);
  });

  it("is to be shortened when something does not cross any more, and never grows by that", () => {
    expect(compareWithKnown(none, one)).toHaveLength(1);
    expect(compareWithKnown(one, more)).toHaveLength(1);
    expect(shrinkKnown(one, none)).toEqual(none);
    expect(shrinkKnown(more, one)).toEqual(one);
    expect(shrinkKnown(one, more)).toEqual(one);
  });
});
