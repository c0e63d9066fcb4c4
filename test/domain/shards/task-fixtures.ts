import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";

import type { Database } from "../../../src/db/db.ts";
import {
  ACCESS,
  everyUnit,
  issueAssignees,
  issues,
  OWNER_PERMISSION,
  repositories,
  type Repository,
  type Team,
  teams,
  type User,
  users,
} from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import type { RepositoryContext } from "../../../src/shapes/repos/repository.ts";
import { databases as shardDatabases, directory, SHARDS } from "./three-shards.ts";

/** The bindings of a service with three shards, and their databases. */
export const BINDINGS = { DB: env.DIRECTORY_DB, ...SHARDS };
/** By number; 0 is the first database. */
export const databases: readonly Database[] = [directory, ...shardDatabases];

const AT = { createdAt: 1, updatedAt: 1 };

/** Inserts an account into the first database. */
export async function insertUser(name: string, fields: Partial<User> = {}): Promise<User> {
  const row = { kind: "user" as const, name, lowerName: name, ...AT, ...fields };
  return only(await directory.insert(users).values(row).returning());
}

/** Inserts a team that writes to the repositories it reaches. */
export async function insertTeam(
  org: User,
  name: string,
  fields: Partial<Team> = {},
): Promise<Team> {
  const row = { orgId: org.id, name, lowerName: name, createdAt: 1 };
  const grants = { access: ACCESS.write, units: everyUnit(ACCESS.write) };
  return only(
    await directory
      .insert(teams)
      .values({ ...row, ...grants, ...fields })
      .returning(),
  );
}

/** Inserts a private repository, whose own data is in a shard. */
export async function insertRepo(
  owner: User,
  name: string,
  shard: number,
): Promise<RepositoryContext> {
  const row = only(
    await directory
      .insert(repositories)
      .values({
        ownerId: owner.id,
        ownerLowerName: owner.lowerName,
        name,
        lowerName: name,
        shard,
        isPrivate: true,
        visibility: "private",
        defaultBranch: "main",
        objectName: crypto.randomUUID(),
        networkName: "n",
        pullSettings: {} as Repository["pullSettings"],
        issueSettings: {} as Repository["issueSettings"],
        ...AT,
      })
      .returning(),
  );
  return { row, owner, permission: OWNER_PERMISSION };
}

let number = 0;

/** Inserts an issue with assignees into the database with a repository's own data. */
export async function insertIssue({ row }: RepositoryContext, assignees: readonly User[] = []) {
  const db = databases[row.shard];
  if (!db) throw new Error("no such shard");
  const values = { repoId: row.id, number: (number += 1), title: "t", ...AT };
  const issue = only(await db.insert(issues).values(values).returning());
  for (const { id: userId } of assignees) {
    await db
      .insert(issueAssignees)
      .values({ issueId: issue.id, userId, repoId: row.id, createdAt: 1 });
  }
  return issue;
}

/** The ids of those who are assigned in a repository, in order. */
export async function assigneesOf({ row }: RepositoryContext): Promise<number[]> {
  const found = await databases[row.shard]?.all<{ id: number }>(sql`
    select user_id as id from ${issueAssignees} where repo_id = ${row.id} order by user_id`);
  return (found ?? []).map(({ id }) => id);
}
