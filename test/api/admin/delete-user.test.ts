import { eq, inArray, or } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  accountDeletions,
  emailAddresses,
  follows,
  organizationMembers,
  packageBlobs,
  packageLooseFiles,
  packages,
  packageVersions,
  repositories,
  scheduledMerges,
  stars,
  users,
} from "../../../src/db/schema/index.ts";
import { continueDeletions } from "../../../src/domain/operations/deletions/delete-user.ts";
import { deleteSomePackages } from "../../../src/domain/packages/package/delete-some-packages.ts";
import { makeManyRepositories } from "../../support/bulk.ts";
import { auditKindsOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { failCalls, failing, serveFailing } from "../../support/faults.ts";
import { makeHook } from "../../support/hooks.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makeReadyPull } from "../../support/merges.ts";
import { makePackage, versionsOf } from "../../support/packages.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

const remove = (admin: TestUser, { name }: { name: string }, query = "") =>
  call("DELETE", `/admin/users/${name}${query}`, { as: admin });
const purge = (admin: TestUser, user: { name: string }) => remove(admin, user, "?purge=true");

const accountOf = ({ id }: { id: number }) => db.select().from(users).where(eq(users.id, id));
const repositoriesOf = ({ id }: { id: number }) =>
  db.select().from(repositories).where(eq(repositories.ownerId, id));

type Rooted = Awaited<ReturnType<typeof makeRooted>>;

/** Runs the schedule when every lease has expired. */
const runSchedule = (): Promise<void> =>
  continueDeletions(systemCtx({}, Date.now() + 10 * 60 * 1000));

/**
 * A user with repositories, an own organization with a repository, a membership elsewhere, and
 * relations.
 */
async function makeRooted() {
  const [user, friend] = [await make.user(), await make.user()];
  const own = await make.org([user]);
  const shared = await make.org([user, friend]);
  const repos = [await make.repo(user), await make.repo(user, { isPrivate: true })];
  const ownRepo = await make.repo(own);
  const friendRepo = await make.repo(friend);
  await db.insert(follows).values([
    { followerId: user.id, followedId: friend.id, createdAt: 1 },
    { followerId: friend.id, followedId: user.id, createdAt: 1 },
  ]);
  await db
    .insert(stars)
    .values({ userId: user.id, repoId: friendRepo.id, visibility: "public", createdAt: 1 });
  return { user, friend, own, shared, repos, ownRepo, friendRepo };
}

/** What is left of an account and its own organization, and what others count. */
async function leftOf({ user, friend, own, shared, friendRepo }: Rooted) {
  const [followed] = await accountOf(friend);
  const [starred] = await repositoriesOf(friend);
  const owned = [user, own].map(({ id }) => id);
  return {
    accounts: await db.select().from(users).where(inArray(users.id, owned)),
    repositories: await db.select().from(repositories).where(inArray(repositories.ownerId, owned)),
    deletions: await db
      .select()
      .from(accountDeletions)
      .where(inArray(accountDeletions.accountId, owned)),
    memberships: await db
      .select()
      .from(organizationMembers)
      .where(or(eq(organizationMembers.userId, user.id), eq(organizationMembers.orgId, own.id))),
    shared: (await accountOf(shared)).length,
    followers: followed?.followerCount,
    following: followed?.followingCount,
    stars: starred?.id === friendRepo.id ? starred.starCount : undefined,
  };
}

const NOTHING_LEFT = {
  accounts: [],
  repositories: [],
  deletions: [],
  memberships: [],
  shared: 1,
  followers: 0,
  following: 0,
  stars: 0,
};

describe("DELETE /admin/users/{username}", () => {
  it("deletes an account with all that belongs to it, and records it", async () => {
    const admin = await make.admin();
    const user = await make.user();
    expect(await remove(admin, user)).toMatchObject({ status: 204, body: "" });

    expect(await accountOf(user)).toEqual([]);
    const addresses = db.select().from(emailAddresses).where(eq(emailAddresses.userId, user.id));
    expect(await addresses).toEqual([]);
    expect((await call("GET", "/user", { as: user })).status).toBe(401);
    expect((await call("GET", `/users/${user.name}`)).status).toBe(404);
    expect(await eventsIn(user)).toMatchObject([
      { type: "user.deleted", actorId: admin.id, payload: { name: user.name } },
    ]);
    expect(await auditKindsOf(user)).toEqual(["user.deletion_requested", "user.deleted"]);
    expect((await remove(admin, user)).status).toBe(404);
    const again = { username: user.name, email: user.email, password: "correct horse" };
    expect((await call("POST", "/admin/users", { as: admin, json: again })).status).toBe(201);
  });

  it("refuses an owner of repositories and a member of organizations, who stay as they are", async () => {
    const admin = await make.admin();
    const [owner, member] = [await make.user(), await make.user()];
    await make.repo(owner);
    await make.org([member]);
    expect(await remove(admin, owner)).toMatchObject({
      status: 422,
      body: { message: `user still has ownership of repositories [uid: ${owner.id}]` },
    });
    expect(await remove(admin, member, "?purge=false")).toMatchObject({
      status: 422,
      body: { message: `user still has membership of organizations [uid: ${member.id}]` },
    });
    const publisher = await make.user();
    const pkg = await makePackage(publisher);
    expect(await remove(admin, publisher)).toMatchObject({
      status: 422,
      body: { message: `user still has ownership of packages [uid: ${publisher.id}]` },
    });
    expect(await versionsOf(pkg.id)).toEqual(["1.0"]);
    for (const user of [owner, member, publisher]) {
      expect(await accountOf(user)).toMatchObject([
        { visibility: "public", isLoginProhibited: false },
      ]);
      expect((await call("GET", "/user", { as: user })).status).toBe(200);
      expect(await auditKindsOf(user)).toEqual([]);
    }
  });

  it("refuses oneself, organizations, and callers who are not administrators", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const org = await make.org([user]);
    expect(await purge(admin, admin)).toMatchObject({
      status: 422,
      body: { message: "you cannot delete yourself" },
    });
    const other = await make.admin();
    const sudo = { as: admin, headers: { Sudo: other.name } };
    expect((await call("DELETE", `/admin/users/${admin.name}`, sudo)).status).toBe(422);
    expect((await purge(admin, org)).status).toBe(404);
    expect((await remove(admin, { name: freshName("none") })).status).toBe(404);
    expect((await purge(user, other)).status).toBe(403);
    expect((await call("DELETE", `/admin/users/${user.name}`)).status).toBe(401);
    const reader = await make.token(admin, { scopes: "read:admin" });
    const path = `/admin/users/${user.name}`;
    expect((await call("DELETE", path, { token: reader })).status).toBe(403);
    expect(await accountOf(user)).toHaveLength(1);
    expect(await accountOf(org)).toHaveLength(1);
  });

  it("purges repositories, memberships, and organizations that nobody else owns", async () => {
    const admin = await make.admin();
    const rooted = await makeRooted();
    const { user, own, shared, repos } = rooted;
    expect((await purge(admin, user)).status).toBe(204);
    expect(await leftOf(rooted)).toEqual(NOTHING_LEFT);
    expect((await eventsIn(user)).map(({ type }) => type)).toEqual([
      ...repos.map(() => "repository.deleted"),
      "user.deleted",
    ]);
    expect((await eventsIn(own)).map(({ type }) => type)).toEqual([
      "repository.deleted",
      "organization.deleted",
    ]);
    expect(await eventsIn(shared)).toMatchObject([
      { type: "organization.member_removed", payload: { userId: user.id, teamId: null } },
    ]);
  });

  it("purges packages with their bytes, and leaves those of others without a publisher", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const org = await make.org([await make.user()]);
    const foreign = await makePackage(org, { creatorId: user.id });
    const pkg = await makePackage(user, { versions: ["1", "2"] });
    const isOwn = eq(packageBlobs.ownerId, user.id);
    const uuids = (await db.select().from(packageBlobs).where(isOwn)).map(({ uuid }) => uuid);
    expect(uuids).toHaveLength(2);
    expect((await purge(admin, user)).status).toBe(204);
    expect(await accountOf(user)).toEqual([]);
    expect(await versionsOf(pkg.id)).toEqual([]);
    expect(await db.select().from(packageBlobs).where(isOwn)).toEqual([]);
    const isLoose = inArray(packageLooseFiles.uuid, uuids);
    expect(await db.select().from(packageLooseFiles).where(isLoose)).toHaveLength(2);
    const isForeign = eq(packageVersions.packageId, foreign.id);
    expect(await db.select().from(packageVersions).where(isForeign)).toMatchObject([
      { creatorId: null },
    ]);
  });

  it("leaves no rule, scheduled merge or activity of the account, and its issues as by Ghost", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const ready = await makeReadyPull();
    const { owner, repo, pull } = ready;
    await make.collaborator(repo, user, 2);
    const own = `/repos/${repo.owner}/${repo.name}`;
    const issue = await call("POST", `${own}/issues`, { as: user, json: { title: "Seen" } });
    expect(issue.status).toBe(201);
    const named = [user.name];
    const json = { rule_name: "guarded", enable_push: true, enable_push_whitelist: true };
    const rules = `${own}/branch_protections`;
    const rule = { ...json, push_whitelist_usernames: named, merge_whitelist_usernames: named };
    expect((await call("POST", rules, { as: owner, json: rule })).status).toBe(201);
    const tagRule = { name_pattern: "v*", whitelist_usernames: named };
    expect(
      (await call("POST", `${own}/tag_protections`, { as: owner, json: tagRule })).status,
    ).toBe(201);
    const doerId = user.id;
    const row = {
      issueId: pull.id,
      repoId: repo.id,
      doerId,
      createdAt: 1,
      style: "merge",
    } as const;
    await db
      .insert(scheduledMerges)
      .values({ ...row, title: "", message: "", isBranchDeleted: false });

    expect((await purge(admin, user)).status).toBe(204);

    const isOfPull = eq(scheduledMerges.issueId, pull.id);
    expect(await db.select().from(scheduledMerges).where(isOfPull)).toEqual([]);
    expect((await call("GET", `${ready.path}/merge`, { as: owner })).status).toBe(404);
    expect((await call("GET", `${rules}/guarded`, { as: owner })).body).toMatchObject({
      enable_push_whitelist: true,
      push_whitelist_usernames: [],
      merge_whitelist_usernames: [],
    });
    const [tags] = (await call("GET", `${own}/tag_protections`, { as: owner })).body;
    expect(tags).toMatchObject({ whitelist_usernames: [] });
    const feed = await call("GET", `${own}/activities/feeds`, { as: owner });
    const actors = feed.body.map((each: { act_user: { id: number } }) => each.act_user.id);
    expect(new Set(actors)).toEqual(new Set([owner.id]));
    expect((await call("GET", `${own}/issues/${issue.body.number}`)).body).toMatchObject({
      user: { id: -1, login: "Ghost" },
    });
    expect((await call("GET", `/users/${user.name}/activities/feeds`)).status).toBe(404);

    // SECURITY: whoever takes the name gets nothing that the account had.
    const heir = { username: user.name, email: user.email, password: "correct horse" };
    expect((await call("POST", "/admin/users", { as: admin, json: heir })).status).toBe(201);
    expect((await call("GET", `/users/${user.name}/activities/feeds`)).body).toEqual([]);
    expect((await call("GET", `${rules}/guarded`, { as: owner })).body).toMatchObject({
      push_whitelist_usernames: [],
    });
    const asHeir = { as: admin, headers: { Sudo: user.name } };
    expect((await call("GET", `${own}/collaborators/${user.name}`, { as: owner })).status).toBe(
      404,
    );
    expect(
      (
        await call("PATCH", `${own}/issues/${issue.body.number}`, {
          ...asHeir,
          json: { title: "x" },
        })
      ).status,
    ).toBe(403);
  });

  it("takes few round trips for an account with little", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    await make.repo(user);
    await makePackage(user);
    await make.collaborator(await make.repo(await make.user()), user, 2);
    const { answer, line } = await logged(() => purge(admin, user));
    expect(answer.status).toBe(204);
    expect(line.d1Rounds).toBeLessThanOrEqual(12);
  });

  it("purges packages in bounded steps, each of which may be repeated", async () => {
    const user = await make.user();
    const pkg = await makePackage(user, { versions: ["1", "2", "3"] });
    const step = () => db.batch([...deleteSomePackages(db, user.id, 2)]);
    await step();
    expect(await versionsOf(pkg.id)).toHaveLength(1);
    await step();
    await step();
    expect(await versionsOf(pkg.id)).toEqual([]);
    expect(await db.select().from(packages).where(eq(packages.ownerId, user.id))).toEqual([]);
  });

  it("deletes webhooks of the account", async () => {
    const admin = await make.admin();
    const user = await make.user();
    await makeHook({ level: "user", ownerId: user.id, approverId: user.id });
    expect((await remove(admin, user)).status).toBe(204);
    expect(await accountOf(user)).toEqual([]);
  });

  it("deletes once when two ask for it at once", async () => {
    const admin = await make.admin();
    const rooted = await makeRooted();
    const answers = await Promise.all([
      purge(admin, rooted.user),
      purge(admin, rooted.user),
      purge(admin, rooted.user),
    ]);
    for (const { status } of answers) expect([204, 404]).toContain(status);
    await runSchedule();
    expect(await leftOf(rooted)).toEqual(NOTHING_LEFT);
    const deleted = (await eventsIn(rooted.user)).filter(({ type }) => type === "user.deleted");
    expect(deleted).toHaveLength(1);
  });
});

describe("a deletion that takes more than one request", () => {
  const MANY = 170;

  it("hides the account and its repositories at once, and the schedule completes it", async () => {
    const admin = await make.admin();
    const user = await make.user();
    await makeManyRepositories(user, "many", MANY);
    expect((await purge(admin, user)).status).toBe(204);

    const left = await repositoriesOf(user);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(MANY);
    expect((await call("GET", `/users/${user.name}`)).status).toBe(404);
    expect((await call("GET", `/repos/${user.name}/${left[0]?.name}`)).status).toBe(404);
    expect((await call("GET", "/user", { as: user })).status).toBe(403);
    const edit = { as: admin, json: { prohibit_login: false } };
    expect((await call("PATCH", `/admin/users/${user.name}`, edit)).status).toBe(404);
    expect((await call("GET", "/user", { as: user })).status).toBe(403);

    await runSchedule();
    expect(await accountOf(user)).toEqual([]);
  });

  it("leaves forks of the account's repositories as they are", async () => {
    const [admin, user, forker] = [await make.admin(), await make.user(), await make.user()];
    const parent = await make.repo(user);
    const fork = await make.repo(forker, { parentId: parent.id, isFork: true });
    await makeManyRepositories(user, "many", MANY);
    expect((await purge(admin, user)).status).toBe(204);
    await runSchedule();
    const { status, body } = await call("GET", `/repos/${fork.owner}/${fork.name}`);
    expect([status, body.private, body.fork]).toEqual([200, false, false]);
  });

  it("gives the account back with a new repository, and forks follow what they were forked from", async () => {
    const [admin, user, forker] = [await make.admin(), await make.user(), await make.user()];
    const parent = await make.repo(user);
    const fork = await make.repo(forker, { parentId: parent.id, isFork: true });
    const { visibility, isLoginProhibited } = user;
    const row = {
      accountId: user.id,
      isPurge: false,
      requesterId: admin.id,
      rootUrl: "",
      createdAt: 1,
    };
    await db.insert(accountDeletions).values({ ...row, visibility, isLoginProhibited });
    await db.update(users).set({ visibility: "private" }).where(eq(users.id, user.id));
    // Meanwhile the fork has become private, since its parent's owner is.
    await db.update(repositories).set({ isPrivate: true }).where(eq(repositories.id, fork.id));

    await runSchedule();
    expect(await accountOf(user)).toMatchObject([{ visibility: "public" }]);
    expect((await call("GET", `/repos/${fork.owner}/${fork.name}`)).status).toBe(200);
  });
});

describe("a purge that dies", () => {
  it("at any step is continued, and leaves nothing behind", { timeout: 600_000 }, async () => {
    const admin = await make.admin();
    const calls = await failCalls(async (fault) => {
      const rooted = await makeRooted();
      const faults = failing(fault);
      const request = new Request(
        `https://forge.example/api/v1/admin/users/${rooted.user.name}?purge=true`,
        { method: "DELETE", headers: { Authorization: `token ${admin.token}` } },
      );
      const answer = await serveFailing(request, faults.bindings);
      const [started] = await db
        .select()
        .from(accountDeletions)
        .where(eq(accountDeletions.accountId, rooted.user.id));
      const status = (await call("GET", "/user", { as: rooted.user })).status;
      await runSchedule();
      const [account] = await accountOf(rooted.user);
      // Refused before its first step and unchanged, under way with nobody signed in, or gone.
      const seen = account ? [status, answer?.status] : [status];
      const expected = account ? [200, 500] : [started ? 403 : 401];
      expect(seen).toEqual(expected);
      const left = account ? NOTHING_LEFT : await leftOf(rooted);
      expect(left).toEqual(NOTHING_LEFT);
      return faults;
    });
    expect(calls).toBeGreaterThan(10);
  });
});
