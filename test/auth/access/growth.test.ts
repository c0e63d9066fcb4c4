import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import type { User } from "../../../src/db/schema/index.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCommit, storePush } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

// An organization ten times as large costs an access decision no row more: neither members nor
// teams nor repositories that do not concern the caller are read.

interface Size {
  readonly members: number;
  readonly teams: number;
  readonly repositories: number;
}
const SMALL: Size = { members: 60, teams: 20, repositories: 40 };
const LARGE: Size = { members: 600, teams: 200, repositories: 400 };

interface Scene {
  readonly org: User;
  readonly repo: TestRepo;
  readonly callers: Readonly<Record<string, TestUser>>;
}

/**
 * Makes an organization whose members are in one team each, and whose teams name ten repositories
 * each; among them a repository with code, and callers with one role each.
 */
async function makeScene({ members, teams, repositories }: Size): Promise<Scene> {
  const [owner, unit, narrow, collaborator] = await Promise.all(
    Array.from({ length: 4 }, () => make.user()),
  );
  const org = await make.org([owner as TestUser], { visibility: "limited" });
  const repo = await make.repo(org, { isPrivate: true });
  const { oid, pack } = makeCommit("a file");
  await storePush(repo, "refs/heads/main", oid, pack);
  const callers = {
    "an owner": owner as TestUser,
    "a member of a team with all repositories": unit as TestUser,
    "a member of a team that names it": narrow as TestUser,
    "a collaborator": collaborator as TestUser,
  };
  const units = { code: 2 } as const;
  await make.member(org, await make.team(org, { access: 0, units }), unit as TestUser);
  const naming = await make.team(org, { access: 0, units, all: false });
  await make.member(org, naming, narrow as TestUser);
  await make.collaborator(repo, collaborator as TestUser, 2);

  const prefix = freshName("growth");
  const names = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, at) => ({ at, name: `${prefix}-${at}` })));
  const isOurs = sql`lower_name like ${`${prefix}-%`}`;
  await db.run(sql`
    insert into users (kind, name, lower_name, created_at, updated_at)
    select 'user', value ->> 'name', value ->> 'name', 1000, 1000
    from json_each(${names(members)})`);
  await db.run(sql`
    insert into organization_members (org_id, user_id)
    select ${org.id}, id from users where ${isOurs}`);
  await db.run(sql`
    insert into teams (org_id, name, lower_name, access, units, created_at)
    select ${org.id}, value ->> 'name', value ->> 'name', 0, '{"code":1}', 1000
    from json_each(${names(teams)})`);
  await db.run(sql`
    insert into team_members (team_id, user_id)
    select (
      select id from teams
      where lower_name = ${prefix} || '-' || (value ->> 'at' % ${sql.raw(String(teams))})
    ), (select id from users where lower_name = value ->> 'name')
    from json_each(${names(members)})`);
  await db.run(sql`
    insert into repositories (
      owner_id, name, lower_name, is_private, default_branch, pull_settings, issue_settings,
      created_at, updated_at
    )
    select
      ${org.id}, value ->> 'name', value ->> 'name', 1, 'main', pull_settings, issue_settings,
      1000, 1000
    from json_each(${names(repositories)}) join repositories model on model.id = ${repo.id}`);
  await db.run(sql`
    insert into team_repositories (team_id, repo_id)
    select team.id, repo.id
    from teams team join repositories repo on repo.owner_id = team.org_id
    where team.${isOurs} and (repo.id + team.id) % ${repositories / 10} = 0`);
  await db.run(sql`
    insert into team_repositories (team_id, repo_id) values (${naming.id}, ${repo.id})`);
  return { org, repo, callers };
}

let small: Scene;
let large: Scene;
beforeAll(async () => {
  small = await makeScene(SMALL);
  large = await makeScene(LARGE);
});

/**
 * The rows that a request of a caller reads; the second time, so that the use of the token is noted
 * before.
 */
async function rowsRead(scene: Scene, role: string, method: string, path: string) {
  const { token } = scene.callers[role] as TestUser;
  const send = () => logged(() => visit(method, path, { token }));
  await send();
  const { answer, line } = await send();
  expect(answer.status).toBeLessThan(300);
  return line.d1RowsRead;
}

const ROLES = [
  "an owner",
  "a member of a team with all repositories",
  "a member of a team that names it",
  "a collaborator",
];

describe.each(ROLES)("%s of a larger organization", (role) => {
  it.each([
    ["a repository", "GET", (at: string) => `/api/v1/repos${at}`],
    ["its branches", "GET", (at: string) => `/api/v1/repos${at}/branches`],
    ["a fetch", "GET", (at: string) => `${at}.git/info/refs?service=git-upload-pack`],
    ["a push", "GET", (at: string) => `${at}.git/info/refs?service=git-receive-pack`],
    ["a star", "PUT", (at: string) => `/api/v1/user/starred${at}`],
  ])("reads no more rows for %s", async (_, method, path) => {
    const pathIn = ({ org, repo }: Scene) => path(`/${org.name}/${repo.name}`);
    const [before, after] = [
      await rowsRead(small, role, method, pathIn(small)),
      await rowsRead(large, role, method, pathIn(large)),
    ];

    expect(before).toBeGreaterThan(0);
    expect(after).toBe(before);
  });
});

// The index of the grants skips private repositories, and those that the caller sees without a
// grant.
describe.each(ROLES.slice(2))("%s of a larger organization", (role) => {
  it("reads no more rows for a search of repositories", async () => {
    const path = `/api/v1/repos/search?q=${freshName("nothing")}`;
    const before = await rowsRead(small, role, "GET", path);
    expect(before).toBeGreaterThan(0);
    // The full-text index reads a row more or less as it is merged.
    expect(await rowsRead(large, role, "GET", path)).toBeLessThan(before + 10);
  });
});
