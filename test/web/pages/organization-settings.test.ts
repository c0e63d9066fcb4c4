import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  blocks,
  branchProtections,
  organizationMembers,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type User,
} from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { pngOf } from "../../support/images.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { rowsOfOrganization } from "../../support/rows-of-organization.ts";

let owner: TestUser;
let browser: Browser;
let token: string;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  token = formTokenOf((await browser.get("/user/settings/account")).body);
});

const send = (path: string, action: string, fields: Record<string, string> = {}) =>
  browser.post(path, { _csrf: token, action, ...fields });

/** Sends a form that is taken. */
async function save(...sent: Parameters<typeof send>): Promise<string> {
  const { status, headers, body } = await send(...sent);
  expect(status, String(body)).toBe(303);
  return String(headers.get("location"));
}

/** Sends a form that is refused with a text, and writes nothing. */
async function expectRefused(org: User, text: string, ...sent: Parameters<typeof send>) {
  const before = await rowsOfOrganization(org.id);
  const { status, body } = await send(...sent);
  expect(String(body).toLowerCase()).toContain(text.toLowerCase());
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(await rowsOfOrganization(org.id)).toEqual(before);
}

const rowOf = async ({ id }: User) => (await db.select().from(users).where(eq(users.id, id)))[0];

describe("the settings of an organization", () => {
  it("change its profile, visibility and avatar", async () => {
    const org = await make.org([owner]);
    const path = `/org/${org.name}/settings`;
    const fields = {
      full_name: "Weavers",
      email: "weavers@example.com",
      website: "https://weavers.example",
      visibility: "limited",
      repo_admin_change_team_access: "on",
    };
    await save(path, "update", fields);
    expect(await rowOf(org)).toMatchObject({
      fullName: "Weavers",
      email: "weavers@example.com",
      website: "https://weavers.example",
      visibility: "limited",
      canRepoAdminChangeTeamAccess: true,
    });
    await expectRefused(org, "must be a URL", path, "update", { ...fields, website: "x" });
    await expectRefused(org, "one of the choices", path, "update", { ...fields, visibility: "" });

    const form = new FormData();
    form.append("_csrf", token);
    form.append("action", "avatar");
    form.append("image", new File([Buffer.from(pngOf(1, 1, org.name), "base64")], "a.png"));
    expect((await browser.postForm(path, form)).status).toBe(303);
    expect((await rowOf(org))?.avatarHash).not.toBe("");
  });

  it("rename and delete it where its name is typed", async () => {
    const org = await make.org([owner]);
    const path = `/org/${org.name}/settings`;
    const name = freshName("woven");
    await expectRefused(org, "must be the name of the organization", path, "rename", {
      new_name: name,
      org_name: "x",
    });
    await expectRefused(org, "already exists", path, "rename", {
      new_name: owner.name,
      org_name: org.name,
    });
    const to = await save(path, "rename", { new_name: name, org_name: org.name });
    expect(to).toBe(`/org/${name}/settings`);
    const repo = await make.repo(org);
    await expectRefused(org, "still has ownership", to, "delete", { org_name: name });
    await browser.post(`/${name}/${repo.name}/settings`, {
      _csrf: token,
      action: "delete",
      repo_name: repo.name,
    });
    await save(to, "delete", { org_name: name });
    expect(await rowOf(org)).toBeUndefined();
  });

  it("block users", async () => {
    const org = await make.org([owner]);
    const user = await make.user();
    const path = `/org/${org.name}/settings/blocked_users`;
    const blocked = () => db.select().from(blocks).where(eq(blocks.blockerId, org.id));
    await save(path, "block", { blockee: user.name, note: "Loud" });
    expect(await blocked()).toMatchObject([{ blockedId: user.id, note: "Loud" }]);
    await expectRefused(org, "must be the name of a user", path, "block", { blockee: "nobody-at" });
    await expectRefused(org, "", path, "block", { blockee: owner.name });
    expect((await browser.get(path)).body).toContain(user.name);
    await save(path, "unblock", { name: user.name });
    expect(await blocked()).toEqual([]);
  });

  it("have rules for the branches of its repositories", async () => {
    const org = await make.org([owner]);
    const path = `/org/${org.name}/settings/rulesets`;
    const rules = () =>
      db.select().from(branchProtections).where(eq(branchProtections.ownerId, org.id));
    const fields = { rule_name: "main", repository_patterns: "api-*", required_approvals: "1" };
    await save(`${path}/new`, "create", fields);
    const [rule] = await rules();
    expect(rule).toMatchObject({ name: "main", repositoryPatterns: "api-*" });
    await expectRefused(org, "must not have a rule already", `${path}/new`, "create", fields);
    await expectRefused(org, "Somebody else", `${path}/${rule?.id}`, "save", fields);
    await save(`${path}/${rule?.id}`, "save", {
      ...fields,
      updated_at: String(rule?.updatedAt),
      repository_patterns: "",
    });
    expect(await rules()).toMatchObject([{ repositoryPatterns: "" }]);
    await save(path, "delete", { id: String(rule?.id) });
    expect(await rules()).toEqual([]);
  });
});

describe("the teams of an organization", () => {
  const FIELDS = {
    team_name: "builders",
    description: "They build",
    permission: "units",
    "unit-code": "write",
    "unit-issues": "read",
    repo_access: "chosen",
  };
  const teamOf = async (org: User, name: string) =>
    (
      await db
        .select()
        .from(teams)
        .where(and(eq(teams.orgId, org.id), eq(teams.name, name)))
    )[0];

  it("are made, changed and deleted", async () => {
    const org = await make.org([owner]);
    const path = `/org/${org.name}/teams`;
    expect((await browser.get(path)).body).toContain(`${path}/new`);
    const to = await save(`${path}/new`, "create", FIELDS);
    expect(to).toBe(`${path}/builders/edit#members`);
    expect(await teamOf(org, "builders")).toMatchObject({
      description: "They build",
      access: 0,
      units: { code: 2, issues: 1, wiki: 0 },
      includesAllRepositories: false,
    });
    await expectRefused(org, "already exists", `${path}/new`, "create", FIELDS);
    await expectRefused(org, 'id="team_name-fault"', `${path}/new`, "create", {
      ...FIELDS,
      team_name: "a b",
    });
    await expectRefused(org, "reserved", `${path}/new`, "create", { ...FIELDS, team_name: ".." });
    await expectRefused(org, "reserved", `${path}/new`, "create", { ...FIELDS, team_name: "new" });
    const seen =
      /name="seen" value="([^"]*)"/.exec(String((await browser.get(to)).body))?.[1] ?? "";
    const renamed = await save(to, "update", {
      ...FIELDS,
      seen,
      team_name: "makers",
      permission: "admin",
      repo_access: "all",
      can_create_org_repo: "on",
    });
    expect(await teamOf(org, "makers")).toMatchObject({
      access: 3,
      includesAllRepositories: true,
      canCreateOrgRepo: true,
    });
    // A form that was opened before takes nothing back.
    await expectRefused(org, "Somebody else has changed the team", renamed, "update", {
      ...FIELDS,
      seen,
    });
    expect(await save(renamed, "delete")).toBe(path);
    expect(await teamOf(org, "makers")).toBeUndefined();
  });

  it("have members and repositories", async () => {
    const org = await make.org([owner]);
    const [team, repo, user] = [
      await make.team(org, { name: "crew", all: false }),
      await make.repo(org),
      await make.user(),
    ];
    const path = `/org/${org.name}/teams/crew/edit`;
    await save(path, "add_member", { member: user.name });
    await save(path, "add_repository", { repo_name: repo.name });
    const page = (await browser.get(path)).body;
    expect(page).toContain(user.name);
    expect(page).toContain(repo.name);
    const members = () => db.select().from(teamMembers).where(eq(teamMembers.teamId, team.id));
    const repos = () =>
      db.select().from(teamRepositories).where(eq(teamRepositories.teamId, team.id));
    expect(await members()).toMatchObject([{ userId: user.id }]);
    expect(await repos()).toMatchObject([{ repoId: repo.id }]);
    await expectRefused(org, "must be the name of a user", path, "add_member", {
      member: "nobody-at",
    });
    await expectRefused(org, "must be the name of a user", path, "add_member", {
      member: org.name,
    });
    const foreign = await make.repo(owner);
    await expectRefused(org, "must be the name of a repository", path, "add_repository", {
      repo_name: foreign.name,
    });
    await save(path, "remove_member", { member: user.name });
    await save(path, "remove_repository", { repo_name: repo.name });
    expect([await members(), await repos()]).toEqual([[], []]);
  });

  it("of owners stay, and keep one", async () => {
    const org = await make.org([owner]);
    const path = `/org/${org.name}/teams/Owners/edit`;
    await save(path, "update", { team_name: "others", description: "All of it" });
    expect(await teamOf(org, "Owners")).toMatchObject({ description: "All of it", access: 4 });
    await expectRefused(org, "", path, "delete");
    await expectRefused(org, "the last owner", path, "remove_member", { member: owner.name });
  });
});

describe("the members of an organization", () => {
  const memberOf = async (org: User, user: User) =>
    (
      await db
        .select()
        .from(organizationMembers)
        .where(and(eq(organizationMembers.orgId, org.id), eq(organizationMembers.userId, user.id)))
    )[0];

  it("are removed by owners, show themselves and leave", async () => {
    const org = await make.org([owner]);
    const team = await make.team(org);
    const [one, other] = [await make.userWithPassword(), await make.user()];
    for (const user of [one, other]) await make.member(org, team, user);
    const path = `/org/${org.name}/members`;
    expect((await browser.get(path)).body).toContain(`Remove ${other.name}`);
    await save(`${path}/action`, "remove", { member: other.name });
    expect(await memberOf(org, other)).toBeUndefined();

    const member = await Browser.signedIn(one);
    const page = String((await member.get(path)).body);
    expect(page).not.toContain(`Remove ${owner.name}`);
    const own = { _csrf: formTokenOf(page) };
    await member.post(`${path}/action`, { ...own, action: "public" });
    expect(await memberOf(org, one)).toMatchObject({ isPublic: true });
    await member.post(`${path}/action`, { ...own, action: "private" });
    expect(await memberOf(org, one)).toMatchObject({ isPublic: false });
    await member.post(`${path}/action`, { ...own, action: "leave" });
    expect(await memberOf(org, one)).toBeUndefined();
    expect((await send(`${path}/action`, "leave")).status).toBe(403);
    expect(await memberOf(org, owner)).toBeDefined();
  });
});
