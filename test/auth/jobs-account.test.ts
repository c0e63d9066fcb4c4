import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { JOBS_USER_ID } from "../../src/auth/actor.ts";
import {
  collaborations,
  follows,
  organizationMembers,
  teamMembers,
  users,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { Browser } from "../support/browser.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";

const NAME = "gitea-actions";

const readAccount = async () =>
  only(await db.select().from(users).where(eq(users.id, JOBS_USER_ID)));

describe("the account of jobs", () => {
  let admin: TestUser;
  beforeAll(async () => {
    admin = await make.userWithPassword({ isAdmin: true });
  });

  it("is not found by an administrator, who therefore can't change, delete or become it", async () => {
    const before = await readAccount();
    const email = "somebody@example.com";
    for (const [method, path, json] of [
      ["GET", `/users/${NAME}`],
      [
        "PATCH",
        `/admin/users/${NAME}`,
        { source_id: 0, login_name: NAME, password: "x".repeat(20) },
      ],
      ["PATCH", `/admin/users/${NAME}`, { source_id: 0, login_name: NAME, admin: true, email }],
      ["POST", `/admin/users/${NAME}/rename`, { new_username: "somebody-else" }],
      ["POST", `/admin/users/${NAME}/keys`, { title: "a", key: "ssh-ed25519 AAAA" }],
      ["POST", `/admin/users/${NAME}/orgs`, { username: "an-organization" }],
      ["POST", `/admin/users/${NAME}/repos`, { name: "repo" }],
      ["DELETE", `/admin/users/${NAME}`],
      ["DELETE", `/admin/users/${NAME}?purge=true`],
      ["PUT", `/user/following/${NAME}`],
      ["PUT", `/user/blocks/${NAME}`],
    ] as const) {
      const answer = await call(method, path, { as: admin, ...(json && { json }) });
      expect([path, answer.status]).toEqual([path, expect.toBeOneOf([403, 404, 422])]);
    }
    expect(await readAccount()).toEqual(before);
    expect(await db.select().from(follows).where(eq(follows.followedId, JOBS_USER_ID))).toEqual([]);
    const asIt = await call("GET", "/user", { as: admin, headers: { Sudo: NAME } });
    expect(asIt.status).toBe(404);
  });

  it("is in no list, and has no page for administrators", async () => {
    for (const path of [
      "/admin/users?limit=50",
      `/users/search?q=${NAME}`,
      "/users/search?uid=-2",
    ]) {
      const { body } = await call("GET", path, { as: admin });
      expect(JSON.stringify(body)).not.toContain(NAME);
    }
    const browser = new Browser();
    await browser.signIn(admin);
    for (const path of [`/-/admin/users/${JOBS_USER_ID}`, `/${NAME}`]) {
      expect((await browser.get(path)).status).toBe(404);
    }
  });

  it("is made no collaborator, member of a team, or owner of a repository", async () => {
    const repo = await make.repo(admin);
    const org = await make.org([admin]);
    const teams = await call("GET", `/orgs/${org.name}/teams`, { as: admin });
    const own = `/repos/${admin.name}/${repo.name}`;
    for (const [method, path, json] of [
      ["PUT", `${own}/collaborators/${NAME}`, { permission: "write" }],
      ["PUT", `/teams/${teams.body[0].id}/members/${NAME}`],
      ["POST", `${own}/transfer`, { new_owner: NAME }],
    ] as const) {
      const answer = await call(method, path, { as: admin, ...(json && { json }) });
      expect([path, answer.status]).toEqual([path, expect.toBeOneOf([404, 422])]);
    }
    for (const table of [collaborations, teamMembers, organizationMembers]) {
      expect(await db.select().from(table).where(eq(table.userId, JOBS_USER_ID))).toEqual([]);
    }
  });

  it("does not sign in", async () => {
    for (const password of ["", " ", "null"]) {
      const headers = { Authorization: `Basic ${btoa(`${NAME}:${password}`)}` };
      expect((await call("GET", "/user", { headers })).status).toBe(401);
    }
  });
});
