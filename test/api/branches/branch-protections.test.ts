import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { branchProtections, repositories, users } from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeRule, makeRuleset } from "../../support/protections.ts";
import { makePushed } from "../../support/pushed.ts";

const pathOf = ({ owner, name }: TestRepo, rest = "") =>
  `/repos/${owner}/${name}/branch_protections${rest && `/${encodeURIComponent(rest)}`}`;

async function makeOwned() {
  const owner = await make.user();
  return { owner, repo: await make.repo(owner) };
}

const create = (repo: TestRepo, as: TestUser, json: object) =>
  call("POST", pathOf(repo), { as, json });
const edit = (repo: TestRepo, as: TestUser, name: string, json: object) =>
  call("PATCH", pathOf(repo, name), { as, json });
const namesIn = async (repo: TestRepo) =>
  (await db.select().from(branchProtections).where(eq(branchProtections.repoId, repo.id))).map(
    ({ name }) => name,
  );

const NOTHING_ALLOWED = {
  priority: 1,
  enable_push: false,
  enable_push_whitelist: false,
  push_whitelist_usernames: [],
  push_whitelist_teams: [],
  push_whitelist_deploy_keys: false,
  enable_force_push: false,
  enable_force_push_allowlist: false,
  force_push_allowlist_usernames: [],
  force_push_allowlist_teams: [],
  force_push_allowlist_deploy_keys: false,
  enable_merge_whitelist: false,
  merge_whitelist_usernames: [],
  merge_whitelist_teams: [],
  enable_status_check: false,
  status_check_contexts: [],
  required_approvals: 0,
  enable_approvals_whitelist: false,
  approvals_whitelist_username: [],
  approvals_whitelist_teams: [],
  block_on_rejected_reviews: false,
  block_on_official_review_requests: false,
  block_on_outdated_branch: false,
  dismiss_stale_approvals: false,
  ignore_stale_approvals: false,
  require_signed_commits: false,
  protected_file_patterns: "",
  unprotected_file_patterns: "",
  block_admin_merge_override: false,
};

describe("POST /repos/{owner}/{repo}/branch_protections", () => {
  it("stores a rule by name alone, and records it in the audit log", async () => {
    const { owner, repo } = await makeOwned();
    const made = await create(repo, owner, { rule_name: "main" });
    expect(made).toMatchObject({
      status: 201,
      body: { ...NOTHING_ALLOWED, rule_name: "main", branch_name: "main" },
    });
    const got = await call("GET", pathOf(repo, "main"), { as: owner });
    expect(got).toMatchObject({ status: 200, body: made.body });
    expect(await auditOf(owner)).toMatchObject([
      { kind: "branch_protection.created", repoId: repo.id, target: "main" },
    ]);
  });

  it("stores every field", async () => {
    const [owner, writer] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const team = await make.team(org, { access: 2 });
    await make.member(org, team, writer);
    const json = {
      rule_name: "release/**",
      priority: 5,
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: [writer.name.toUpperCase()],
      push_whitelist_teams: [team.name],
      push_whitelist_deploy_keys: true,
      enable_force_push: true,
      enable_force_push_allowlist: true,
      force_push_allowlist_usernames: [owner.name],
      force_push_allowlist_teams: [team.name],
      force_push_allowlist_deploy_keys: true,
      enable_merge_whitelist: true,
      merge_whitelist_usernames: [writer.name],
      merge_whitelist_teams: [team.name],
      enable_status_check: true,
      status_check_contexts: ["ci/*", "lint"],
      required_approvals: 2,
      enable_approvals_whitelist: true,
      approvals_whitelist_username: [owner.name],
      approvals_whitelist_teams: [team.name],
      block_on_rejected_reviews: true,
      block_on_official_review_requests: true,
      block_on_outdated_branch: true,
      dismiss_stale_approvals: true,
      ignore_stale_approvals: true,
      require_signed_commits: true,
      protected_file_patterns: "*.yml;secret/**",
      unprotected_file_patterns: "docs/**",
      block_admin_merge_override: true,
    };
    const made = await create(repo, owner, json);
    const shown = { ...json, push_whitelist_usernames: [writer.name], branch_name: "" };
    expect(made).toMatchObject({ status: 201, body: shown });
    const got = await call("GET", pathOf(repo, "release/**"), { as: owner });
    expect(got.body).toEqual(made.body);
  });

  it("takes branch_name where rule_name is empty, numbers rules, and keeps lists without their switch", async () => {
    const { owner, repo } = await makeOwned();
    await create(repo, owner, { rule_name: "", branch_name: "dev" });
    const both = await create(repo, owner, { rule_name: "x1", branch_name: "x2" });
    expect(both.body).toMatchObject({ rule_name: "x1", priority: 2 });
    const listed = await create(repo, owner, {
      rule_name: "a*",
      required_approvals: -1,
      push_whitelist_usernames: [owner.name],
      enable_force_push: true,
      unknown: 1,
    });
    expect(listed.body).toMatchObject({
      branch_name: "",
      enable_push_whitelist: false,
      push_whitelist_usernames: [owner.name],
      enable_force_push: false,
      required_approvals: 0,
    });
  });

  it("drops strangers and the teams of a user's repository", async () => {
    const { owner, repo } = await makeOwned();
    const [stranger, reader] = [await make.user(), await make.user()];
    await make.collaborator(repo, reader, 1);
    const { status, body } = await create(repo, owner, {
      rule_name: "main",
      push_whitelist_usernames: [stranger.name, reader.name],
      merge_whitelist_teams: ["x"],
      approvals_whitelist_username: [stranger.name, reader.name],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      push_whitelist_usernames: [],
      merge_whitelist_teams: [],
      approvals_whitelist_username: [reader.name],
    });
  });

  it.each([
    ["no name", {}, 400, "both rule_name and branch_name are empty"],
    ["an open bracket", { rule_name: "[a" }, 422, "rule_name"],
    ["an open brace", { rule_name: "{a" }, 422, "rule_name"],
    ["a trailing backslash", { rule_name: "a\\" }, 422, "rule_name"],
    ["a number as name", { rule_name: 5 }, 422, "rule_name"],
    ["a bad context", { rule_name: "a", status_check_contexts: ["[a"] }, 422, "status_check"],
    [
      "bad protected files",
      { rule_name: "a", protected_file_patterns: "b;[" },
      422,
      "protected_file",
    ],
    [
      "bad unprotected files",
      { rule_name: "a", unprotected_file_patterns: "{" },
      422,
      "unprotected",
    ],
    [
      "an unknown user",
      { rule_name: "a", merge_whitelist_usernames: ["no-such-user"] },
      422,
      "user does not exist [uid: 0, name: no-such-user]",
    ],
    ["too long a name", { rule_name: "a".repeat(256) }, 422, "rule_name"],
    ["an empty context", { rule_name: "a", status_check_contexts: ["ci", ""] }, 422, "contexts"],
  ])("refuses %s, and stores nothing", async (_, json, status, message) => {
    const { owner, repo } = await makeOwned();
    const answer = await create(repo, owner, json);
    expect(answer).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
    expect(await namesIn(repo)).toEqual([]);
    expect(await auditOf(owner)).toEqual([]);
  });

  it("refuses an unknown team of an organization, and an account that the caller may not see", async () => {
    const owner = await make.user();
    const hidden = await make.user({ visibility: "private" });
    const repo = await make.repo(await make.org([owner]));
    const ofTeam = await create(repo, owner, { rule_name: "a", push_whitelist_teams: ["x"] });
    expect(ofTeam).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^team/) },
    });
    const ofUser = await create(repo, owner, {
      rule_name: "a",
      push_whitelist_usernames: [hidden.name],
    });
    expect(ofUser).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^user/) },
    });
    expect(await namesIn(repo)).toEqual([]);
  });

  it("refuses a second rule of the name, also of two at once, and more rules than pushes can read", async () => {
    const { owner, repo } = await makeOwned();
    const answers = await Promise.all([1, 2].map(() => create(repo, owner, { rule_name: "a" })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 403]));
    expect((await create(repo, owner, { rule_name: "a" })).body.message).toBe(
      "Branch protection already exist",
    );
    for (let at = 0; at < 99; at++) await makeRule(repo, { name: `b${at}` });
    expect((await create(repo, owner, { rule_name: "c" })).status).toBe(422);
    expect(await namesIn(repo)).toHaveLength(100);
  });

  it("is for administrators of a repository that is not archived", async () => {
    const { owner, repo } = await makeOwned();
    const [writer, stranger] = [await make.user(), await make.user()];
    await make.collaborator(repo, writer, 2);
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const json = { rule_name: "w" };
    expect((await create(repo, writer, json)).status).toBe(403);
    expect((await create(repo, stranger, json)).status).toBe(403);
    expect((await call("POST", pathOf(repo), { json })).status).toBe(401);
    expect((await create(hidden, stranger, json)).status).toBe(404);
    await makeRule(repo, { name: "old" });
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    expect((await create(repo, owner, json)).status).toBe(423);
    expect((await edit(repo, owner, "old", { enable_push: true })).status).toBe(423);
    expect(await namesIn(repo)).toEqual(["old"]);
    expect(await namesIn(hidden)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/branch_protections", () => {
  it("lists rules by priority, with the names of those who are still there", async () => {
    const { owner, repo } = await makeOwned();
    const [writer, gone, left] = [await make.user(), await make.user(), await make.user()];
    await make.collaborator(repo, writer, 2);
    const push = {
      isRestricted: true,
      userIds: [owner.id, gone.id, writer.id, left.id],
      teamIds: [7],
      deployKeys: false,
    };
    await makeRule(repo, { name: "b", priority: 2, settings: { push } });
    await makeRule(repo, { name: "a", priority: 1 });
    await db.delete(users).where(eq(users.id, gone.id));
    const { status, body } = await call("GET", pathOf(repo), { as: owner });
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { rule_name: "a", push_whitelist_usernames: [] },
      // The owner comes last, as in Gitea.
      {
        rule_name: "b",
        push_whitelist_usernames: [writer.name, owner.name],
        push_whitelist_teams: [],
      },
    ]);
  });

  it("is for administrators", async () => {
    const { owner, repo } = await makeOwned();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    await makeRule(repo);
    for (const path of [pathOf(repo), pathOf(repo, "main")]) {
      expect((await call("GET", path, { as: owner })).status).toBe(200);
      expect((await call("GET", path, { as: writer })).status).toBe(403);
      expect((await call("GET", path)).status).toBe(401);
    }
    expect((await call("GET", pathOf(repo, "nothere"), { as: owner })).status).toBe(404);
  });
});

describe("PATCH /repos/{owner}/{repo}/branch_protections/{name}", () => {
  it("changes what is sent, and nothing else", async () => {
    const { owner, repo } = await makeOwned();
    await create(repo, owner, { rule_name: "main", push_whitelist_usernames: [owner.name] });
    const first = await edit(repo, owner, "main", { enable_push: true, required_approvals: 1 });
    const expected = {
      ...NOTHING_ALLOWED,
      enable_push: true,
      required_approvals: 1,
      push_whitelist_usernames: [owner.name],
    };
    expect(first).toMatchObject({ status: 200, body: expected });
    const renamed = await edit(repo, owner, "main", { rule_name: "other", required_approvals: -3 });
    expect(renamed.body).toMatchObject({ ...expected, required_approvals: 0, rule_name: "main" });
    expect((await edit(repo, owner, "main", { priority: 9 })).body.priority).toBe(9);
    expect((await auditOf(owner)).map(({ kind }) => kind).slice(1)).toEqual(
      Array.from({ length: 3 }, () => "branch_protection.edited"),
    );
  });

  it("switches a list on and off; without push there is none", async () => {
    const { owner, repo } = await makeOwned();
    await create(repo, owner, { rule_name: "main", enable_push: true });
    const on = await edit(repo, owner, "main", {
      enable_push_whitelist: true,
      push_whitelist_usernames: [owner.name],
      push_whitelist_deploy_keys: true,
    });
    expect(on.body).toMatchObject({
      enable_push_whitelist: true,
      push_whitelist_usernames: [owner.name],
      push_whitelist_deploy_keys: true,
    });
    const off = await edit(repo, owner, "main", { enable_push: false });
    expect(off.body).toMatchObject({
      enable_push: false,
      enable_push_whitelist: false,
      push_whitelist_usernames: [owner.name],
      push_whitelist_deploy_keys: false,
    });
  });

  it("keeps both changes of two requests at once, or refuses one", async () => {
    const { owner, repo } = await makeOwned();
    await create(repo, owner, { rule_name: "main" });
    const bodies = [{ enable_push: true }, { require_signed_commits: true }];
    const answers = await Promise.all(bodies.map((json) => edit(repo, owner, "main", json)));
    const [rule] = await db
      .select()
      .from(branchProtections)
      .where(eq(branchProtections.repoId, repo.id));
    const { isPushEnabled, requireSignedCommits } = rule?.settings ?? {};
    expect([isPushEnabled, requireSignedCommits]).toEqual(
      answers.map(({ status }) => status === 200),
    );
    expect(answers.some(({ status }) => status === 200)).toBe(true);
  });

  it("refuses unknown rules, users and teams, bad patterns and writers, and changes nothing", async () => {
    const { owner, repo } = await makeOwned();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    await create(repo, owner, { rule_name: "main" });
    const statusOf = async (as: TestUser, name: string, json: object) =>
      (await edit(repo, as, name, json)).status;
    expect(await statusOf(owner, "nothere", { enable_push: true })).toBe(404);
    expect(await statusOf(owner, "main", { merge_whitelist_usernames: ["no-such"] })).toBe(422);
    expect(await statusOf(owner, "main", { protected_file_patterns: "[" })).toBe(422);
    expect(await statusOf(writer, "main", { enable_push: true })).toBe(403);
    const got = await call("GET", pathOf(repo, "main"), { as: owner });
    expect(got.body).toMatchObject(NOTHING_ALLOWED);
  });
});

describe("POST /repos/{owner}/{repo}/branch_protections/priority", () => {
  it("numbers rules in the given order, and leaves other repositories alone", async () => {
    const { owner, repo } = await makeOwned();
    const other = await make.repo(owner);
    const [a, b, c, foreign] = [
      await makeRule(repo, { name: "a", priority: 1 }),
      await makeRule(repo, { name: "b", priority: 2 }),
      await makeRule(repo, { name: "c", priority: 3 }),
      await makeRule(other, { name: "f", priority: 7 }),
    ];
    const ids = [c.id, foreign.id, a.id];
    const answer = await call("POST", pathOf(repo, "priority"), { as: owner, json: { ids } });
    expect(answer).toMatchObject({ status: 204, body: "" });
    const rows = await db.select().from(branchProtections);
    const priorityOf = (id: number) => rows.find((row) => row.id === id)?.priority;
    expect([a, b, c, foreign].map(({ id }) => priorityOf(id))).toEqual([3, 2, 1, 7]);
  });

  it("accepts nothing to order, and refuses writers", async () => {
    const { owner, repo } = await makeOwned();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    const { id } = await makeRule(repo, { priority: 4 });
    const order = async (as: TestUser, json: object) =>
      (await call("POST", pathOf(repo, "priority"), { as, json })).status;
    expect([await order(owner, {}), await order(owner, { ids: [] })]).toEqual([204, 204]);
    expect(await order(owner, { ids: ["x"] })).toBe(422);
    expect(await order(writer, { ids: [id] })).toBe(403);
    const [row] = await db.select().from(branchProtections).where(eq(branchProtections.id, id));
    expect(row?.priority).toBe(4);
  });
});

describe("DELETE /repos/{owner}/{repo}/branch_protections/{name}", () => {
  it("deletes a rule once, by its encoded name", async () => {
    const { owner, repo } = await makeOwned();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    await makeRule(repo, { name: "release/**" });
    await makeRule(repo, { name: "main" });
    const remove = async (as: TestUser) =>
      (await call("DELETE", pathOf(repo, "release/**"), { as })).status;
    expect(await remove(writer)).toBe(403);
    expect(await namesIn(repo)).toHaveLength(2);
    expect(await remove(owner)).toBe(204);
    expect(await remove(owner)).toBe(404);
    expect(await namesIn(repo)).toEqual(["main"]);
    expect((await auditOf(owner)).map(({ kind }) => kind)).toEqual(["branch_protection.deleted"]);
  });
});

describe("a branch", () => {
  const shownTo = async (repo: TestRepo, as?: TestUser) => {
    const path = `/repos/${repo.owner}/${repo.name}/branches/main`;
    const { body } = await call("GET", path, as ? { as } : {});
    const { commit: _, ...rest } = body;
    return rest;
  };
  const unprotected = {
    name: "main",
    protected: false,
    required_approvals: 0,
    enable_status_check: false,
    status_check_contexts: [],
    effective_branch_protection_name: "",
  };

  it("shows what its rule requires, and to administrators which it is", async () => {
    const { owner, repo } = await makePushed();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    expect(await shownTo(repo, writer)).toEqual({
      ...unprotected,
      user_can_push: true,
      user_can_merge: true,
    });
    const merge = { isRestricted: true, userIds: [owner.id], teamIds: [], deployKeys: false };
    const push = { ...merge, userIds: [writer.id] };
    await makeRule(repo, {
      name: "m*",
      settings: {
        isPushEnabled: true,
        push,
        merge,
        requiredApprovals: 2,
        isStatusCheckEnabled: true,
        statusContexts: ["ci/*"],
      },
    });
    const shown = {
      ...unprotected,
      protected: true,
      required_approvals: 2,
      enable_status_check: true,
      status_check_contexts: ["ci/*"],
    };
    expect(await shownTo(repo)).toEqual({ ...shown, user_can_push: false, user_can_merge: false });
    expect(await shownTo(repo, writer)).toEqual({
      ...shown,
      user_can_push: true,
      user_can_merge: false,
    });
    expect(await shownTo(repo, owner)).toEqual({
      ...shown,
      user_can_push: false,
      user_can_merge: true,
      effective_branch_protection_name: "m*",
    });
    const listed = await call("GET", `/repos/${repo.owner}/${repo.name}/branches`, { as: owner });
    expect(listed.body).toMatchObject([{ protected: true, user_can_push: false }]);
  });

  it("shows what the rule of its organization requires besides its own", async () => {
    const user = await make.user();
    const org = await make.org([user]);
    const { repo } = await makePushed(org, user);
    const ruleset = { name: "*", settings: { requiredApprovals: 3, isPushEnabled: true } };
    await makeRuleset(org, { ...ruleset, repositoryPatterns: "other-*" });
    expect(await shownTo(repo, user)).toMatchObject({ protected: false });
    await makeRuleset(org, { ...ruleset, name: "**", repositoryPatterns: "x;REPO-*" });
    expect(await shownTo(repo, user)).toMatchObject({
      required_approvals: 3,
      user_can_push: true,
      effective_branch_protection_name: "**",
    });
    await makeRule(repo, { settings: { requiredApprovals: 1, statusContexts: ["a"] } });
    expect(await shownTo(repo, user)).toMatchObject({
      required_approvals: 3,
      status_check_contexts: ["a"],
      user_can_push: false,
      effective_branch_protection_name: "main",
    });
  });
});
