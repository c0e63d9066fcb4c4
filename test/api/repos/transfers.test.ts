import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  auditEvents,
  blocks,
  collaborations,
  publicKeys,
  repositories,
  repositoryTransfers,
  stars,
  teamRepositories,
  users,
  watches,
} from "../../../src/db/schema/index.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { askBatch, makeLargeFile, upload } from "../../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCommit, push, storePush } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const at = ({ owner, name }: Pick<TestRepo, "owner" | "name">) => `/repos/${owner}/${name}`;

const start = (repo: TestRepo, as: TestUser, newOwner: string, fields: object = {}) =>
  call("POST", `${at(repo)}/transfer`, { as, json: { new_owner: newOwner, ...fields } });

const decide = (repo: TestRepo, as: TestUser, answer: "accept" | "reject") =>
  call("POST", `${at(repo)}/transfer/${answer}`, { as });

const ownerOf = async ({ id }: { id: number }) => {
  const [row] = await db.select().from(repositories).where(eq(repositories.id, id));
  return row?.ownerId;
};

const pending = ({ id }: { id: number }) =>
  db.select().from(repositoryTransfers).where(eq(repositoryTransfers.repoId, id));

/** A repository, its owner, a recipient and somebody else. */
async function makeScene(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, recipient, stranger] = [await make.user(), await make.user(), await make.user()];
  return { owner, recipient, stranger, repo: await make.repo(owner, fields) };
}

/** The same, with the repository offered to the recipient. */
async function makeOffer(fields: Parameters<typeof make.repo>[1] = {}) {
  const scene = await makeScene(fields);
  expect((await start(scene.repo, scene.owner, scene.recipient.name)).status).toBe(201);
  return { ...scene, moved: { ...scene.repo, owner: scene.recipient.name } };
}

describe("POST /repos/{owner}/{repo}/transfer", () => {
  it("offers the repository to another user, and shows it to all who see the repository", async () => {
    const { owner, recipient, stranger, repo } = await makeScene();
    const { answer, line } = await logged(() => start(repo, owner, recipient.name.toUpperCase()));
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    const repoTransfer = {
      doer: { login: owner.name },
      recipient: { login: recipient.name },
      teams: [],
    };
    expect(answer).toMatchObject({
      status: 201,
      body: { full_name: `${owner.name}/${repo.name}`, repo_transfer: repoTransfer },
    });
    for (const as of [owner, recipient, stranger]) {
      for (const path of [at(repo), `/repositories/${repo.id}`]) {
        expect((await call("GET", path, { as })).body.repo_transfer).toMatchObject(repoTransfer);
      }
    }
    expect((await call("GET", at(repo))).body.repo_transfer).toMatchObject(repoTransfer);
    expect(await ownerOf(repo)).toBe(owner.id);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "repository.transfer_started", payload: { recipientId: recipient.id } },
    ]);
  });

  // SECURITY: a pending transfer must not reveal accounts.
  it("shows neither a hidden recipient nor the teams to outsiders", async () => {
    const { owner, repo, stranger } = await makeScene();
    const boss = await make.user();
    const org = await make.org([boss, owner], { visibility: "private" });
    await db
      .insert(repositoryTransfers)
      .values({ repoId: repo.id, doerId: owner.id, recipientId: org.id, createdAt: 1 });
    expect((await call("GET", at(repo), { as: stranger })).body.repo_transfer).toBeUndefined();
    expect((await call("GET", at(repo))).body.repo_transfer).toBeUndefined();
    expect((await call("GET", at(repo), { as: boss })).body.repo_transfer).toMatchObject({
      recipient: { login: org.name },
    });

    const open = await make.org([boss]);
    const team = await make.team(open, { all: false });
    await db
      .update(repositoryTransfers)
      .set({ recipientId: open.id, teamIds: [team.id] })
      .where(eq(repositoryTransfers.repoId, repo.id));
    const teamsFor = async (as: TestUser) =>
      (await call("GET", at(repo), { as })).body.repo_transfer.teams;
    expect(await teamsFor(stranger)).toEqual([]);
    expect(await teamsFor(boss)).toMatchObject([{ name: team.name }]);
  });

  it("moves it at once into an organization in which the caller may create repositories", async () => {
    const { owner, repo } = await makeScene();
    const [boss, creator] = [await make.user(), await make.user()];
    const org = await make.org([boss]);
    await make.member(org, await make.team(org, { creates: true }), owner);
    const team = await make.team(org, { access: 2, all: false });
    await make.member(org, team, creator);
    await make.collaborator(repo, creator, 3);

    const { answer, line } = await logged(() =>
      start(repo, owner, org.name, { team_ids: [team.id] }),
    );
    expect(answer).toMatchObject({ status: 202, body: { full_name: `${org.name}/${repo.name}` } });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(answer.body.repo_transfer).toBeUndefined();
    expect(await ownerOf(repo)).toBe(org.id);
    const teams = await db
      .select({ teamId: teamRepositories.teamId })
      .from(teamRepositories)
      .where(eq(teamRepositories.repoId, repo.id));
    expect(teams).toEqual([{ teamId: team.id }]);
    // The rights of members are those of their teams.
    expect(
      await db.select().from(collaborations).where(eq(collaborations.repoId, repo.id)),
    ).toEqual([]);
    const moved = { owner: org.name, name: repo.name };
    expect((await call("GET", at(moved), { as: creator })).body.permissions).toMatchObject({
      admin: false,
      push: true,
    });
    expect(await eventsOf(repo)).toMatchObject([
      {
        type: "repository.transferred",
        ownerId: org.id,
        payload: { from: `${owner.name}/${repo.name}`, to: `${org.name}/${repo.name}` },
      },
    ]);
  });

  it("moves it at once out of an organization to its owner, and for administrators of the site", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const team = await make.team(org, { all: false });
    await make.teamRepo(team, repo);
    expect((await start(repo, owner, owner.name)).status).toBe(202);
    expect(await ownerOf(repo)).toBe(owner.id);
    expect(
      await db.select().from(teamRepositories).where(eq(teamRepositories.repoId, repo.id)),
    ).toEqual([]);

    const back = { ...repo, owner: owner.name };
    expect((await start(back, await make.admin(), other.name)).status).toBe(202);
    expect(await ownerOf(repo)).toBe(other.id);
  });

  it("offers it to an organization in which the caller may create nothing; its creators accept", async () => {
    const { owner, repo } = await makeScene({ isPrivate: true });
    const [boss, creator, member] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([boss]);
    await make.member(org, await make.team(org, { creates: true, all: false }), creator);
    await make.member(org, await make.team(org, { all: false }), member);
    expect((await start(repo, owner, org.name)).status).toBe(201);

    expect((await call("GET", at(repo), { as: member })).status).toBe(404);
    expect((await decide(repo, member, "accept")).status).toBe(404);
    for (const as of [boss, creator]) {
      expect((await call("GET", at(repo), { as })).status).toBe(200);
      expect((await call("GET", "/user/repos", { as })).body).toMatchObject([{ id: repo.id }]);
    }
    expect(await decide(repo, creator, "accept")).toMatchObject({
      status: 202,
      body: { full_name: `${org.name}/${repo.name}` },
    });
    expect(await ownerOf(repo)).toBe(org.id);
  });

  it("refuses callers who do not own the repository", async () => {
    const { recipient, stranger, repo } = await makeScene();
    const admin = await make.user();
    await make.collaborator(repo, admin, 3);
    expect(
      (await call("POST", `${at(repo)}/transfer`, { json: { new_owner: recipient.name } })).status,
    ).toBe(401);
    for (const as of [admin, stranger]) {
      expect(await start(repo, as, as.name)).toMatchObject({
        status: 403,
        body: { message: "user should be the owner of the repo" },
      });
    }
    expect(await pending(repo)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses tokens that reach less than both sides", async () => {
    const { owner, recipient, repo } = await makeScene();
    const bound = await make.token(owner, { repos: [repo] });
    const narrow = await make.token(owner, { scopes: "public-only,all" });
    const hidden = await make.org([owner], { visibility: "limited" });
    const send = (token: string, name: string) =>
      call("POST", `${at(repo)}/transfer`, { token, json: { new_owner: name } });
    expect((await send(bound, recipient.name)).status).toBe(403);
    expect([403, 404]).toContain((await send(narrow, hidden.name)).status);
    expect(await pending(repo)).toEqual([]);
    expect(await ownerOf(repo)).toBe(owner.id);
  });

  it("refuses new owners and teams that there are not, as far as the caller may know", async () => {
    const { owner, recipient, repo } = await makeScene();
    const org = await make.org([owner]);
    const [foreign, hidden] = [await make.org([]), await make.org([], { visibility: "private" })];
    const [team, unseen] = [await make.team(org), await make.team(foreign)];
    const mine = await make.team(await make.org([owner]));
    for (const name of ["", freshName("none"), hidden.name]) {
      expect(await start(repo, owner, name), name).toMatchObject({ status: 404, body: "" });
    }
    const refusals = [
      [
        recipient.name,
        [team.id],
        422,
        "Teams can only be added to organization-owned repositories",
      ],
      [org.name, [9_999_999], 422, "team 9999999 not found"],
      // SECURITY: a team of an organization that the caller does not belong to is not found.
      [org.name, [unseen.id], 422, `team ${unseen.id} not found`],
      [org.name, [mine.id], 403, `team ${mine.id} belongs not to org ${org.id}`],
    ] as const;
    for (const [name, ids, status, message] of refusals) {
      expect(await start(repo, owner, name, { team_ids: ids })).toMatchObject({
        status,
        body: { message },
      });
    }
    expect((await call("POST", `${at(repo)}/transfer`, { as: owner, json: {} })).status).toBe(404);
    expect((await start(repo, owner, owner.name)).body.message).toBe(
      `repository already exists [uname: ${owner.name}, name: ${repo.name}]`,
    );
    expect(await pending(repo)).toEqual([]);
    expect(await ownerOf(repo)).toBe(owner.id);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses a name that the new owner has, at once and when offered", async () => {
    const { owner, recipient, repo } = await makeScene();
    const org = await make.org([owner]);
    for (const newOwner of [recipient, org]) {
      await make.repo(newOwner, { name: repo.name.toUpperCase() });
      expect(await start(repo, owner, newOwner.name)).toMatchObject({
        status: 422,
        body: {
          message: `repository already exists [uname: ${newOwner.name}, name: ${repo.name}]`,
        },
      });
    }
    expect(await pending(repo)).toEqual([]);
    expect(await ownerOf(repo)).toBe(owner.id);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses an owner with the maximum number of repositories", async () => {
    const { owner, repo } = await makeScene();
    const org = await make.org([owner], { repoCountMax: 0 });
    expect(await start(repo, owner, org.name)).toMatchObject({
      status: 403,
      body: { message: "user has reached maximum limit of repositories [limit: 0]" },
    });
    const full = await make.user({ repoCountMax: 0 });
    const offered = await start(repo, owner, full.name);
    expect(offered.status).toBe(403);
    expect(await pending(repo)).toEqual([]);
    expect(await ownerOf(repo)).toBe(owner.id);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses recipients who block the caller; a block by the caller does not hinder", async () => {
    const { owner, recipient, stranger, repo } = await makeScene();
    await db.insert(blocks).values([
      { blockerId: recipient.id, blockedId: owner.id, createdAt: 1 },
      { blockerId: owner.id, blockedId: stranger.id, createdAt: 1 },
    ]);
    expect(await start(repo, owner, recipient.name)).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });
    expect(await pending(repo)).toEqual([]);
    expect((await start(repo, owner, stranger.name)).status).toBe(201);
  });

  it("refuses a second transfer while one is pending, also at once", async () => {
    const { owner, recipient, stranger, repo } = await makeOffer();
    const org = await make.org([owner]);
    for (const name of [recipient.name, stranger.name, org.name]) {
      expect((await start(repo, owner, name)).status).toBe(409);
    }
    expect((await start(repo, await make.admin(), stranger.name)).status).toBe(409);
    expect(await pending(repo)).toMatchObject([{ recipientId: recipient.id }]);
    expect(await ownerOf(repo)).toBe(owner.id);
  });

  it("ends a pending transfer where the new owner is the owner", async () => {
    const { owner, recipient, repo } = await makeOffer({ isPrivate: true });
    const ended = await start(repo, owner, owner.name);
    expect(ended.status).toBe(202);
    expect(ended.body.repo_transfer).toBeUndefined();
    expect(await pending(repo)).toEqual([]);
    expect((await call("GET", at(repo), { as: recipient })).status).toBe(404);
    expect(typesOf(await eventsOf(repo))).toEqual([
      "repository.transfer_started",
      "repository.transfer_cancelled",
    ]);
  });

  it("takes an archived repository along", async () => {
    const { owner, repo } = await makeScene({ archivedAt: 1000 });
    const org = await make.org([owner]);
    expect(await start(repo, owner, org.name)).toMatchObject({
      status: 202,
      body: { archived: true },
    });
  });
});

describe("a pending transfer", () => {
  it("lets the recipient read a private repository, until it is rejected", async () => {
    const { owner, recipient, stranger, repo } = await makeOffer({ isPrivate: true });
    await storePush(repo, "refs/heads/main", makeCommit(repo.name).oid, makeCommit(repo.name).pack);
    const refs = `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`;

    expect(await call("GET", at(repo), { as: recipient })).toMatchObject({
      status: 200,
      body: { permissions: { admin: false, push: false, pull: true } },
    });
    expect((await call("GET", `${at(repo)}/branches`, { as: recipient })).status).toBe(200);
    expect((await visit("GET", refs, { as: recipient })).status).toBe(200);
    expect((await call("PATCH", at(repo), { as: recipient, json: {} })).status).toBe(403);
    expect((await call("GET", at(repo), { as: stranger })).status).toBe(404);

    const rejected = await decide(repo, recipient, "reject");
    expect(rejected).toMatchObject({ status: 200, body: { id: repo.id } });
    expect(rejected.body.repo_transfer).toBeUndefined();
    expect((await call("GET", at(repo), { as: recipient })).status).toBe(404);
    expect((await visit("GET", refs, { as: recipient })).status).toBe(404);
    expect((await call("GET", "/user/repos", { as: recipient })).body).toEqual([]);
    expect((await call("GET", at(repo), { as: owner })).body.repo_transfer).toBeUndefined();
    expect(typesOf(await eventsOf(repo))).toEqual([
      "repository.transfer_started",
      "repository.pushed",
      "repository.transfer_rejected",
    ]);
  });

  it("lets a restricted recipient read a public repository", async () => {
    const { owner, repo } = await makeScene();
    const restricted = await make.user({ isRestricted: true });
    expect((await call("GET", at(repo), { as: restricted })).status).toBe(404);
    expect((await start(repo, owner, restricted.name)).status).toBe(201);
    expect((await call("GET", at(repo), { as: restricted })).status).toBe(200);
    expect((await decide(repo, restricted, "accept")).status).toBe(202);
  });

  it("is accepted or rejected by the recipient alone", async () => {
    const { owner, stranger, recipient, repo } = await makeOffer();
    for (const answer of ["accept", "reject"] as const) {
      expect((await call("POST", `${at(repo)}/transfer/${answer}`)).status).toBe(401);
      for (const as of [owner, stranger, await make.admin()]) {
        expect(await decide(repo, as, answer)).toMatchObject({
          status: 403,
          body: { message: "permission denied" },
        });
      }
      const token = await make.token(recipient, { repos: [repo] });
      expect((await call("POST", `${at(repo)}/transfer/${answer}`, { token })).status).toBe(403);
    }
    expect(await pending(repo)).toHaveLength(1);
    expect(await ownerOf(repo)).toBe(owner.id);
  });

  it("is not found where there is none", async () => {
    const { owner, recipient, repo } = await makeScene();
    for (const answer of ["accept", "reject"] as const) {
      expect((await decide(repo, owner, answer)).status).toBe(404);
    }
    await start(repo, owner, recipient.name);
    await decide(repo, recipient, "reject");
    expect((await decide(repo, recipient, "reject")).status).toBe(404);
    expect((await decide(repo, recipient, "accept")).status).toBe(404);
    expect(await ownerOf(repo)).toBe(owner.id);
  });

  it.each(["recipient", "owner"] as const)("ends when the %s blocks the other", async (blocker) => {
    const { owner, recipient, repo } = await makeOffer({ isPrivate: true });
    const [as, other] = blocker === "owner" ? [owner, recipient] : [recipient, owner];
    expect((await call("PUT", `/user/blocks/${other.name}`, { as })).status).toBe(204);
    expect(await pending(repo)).toEqual([]);
    expect((await call("GET", at(repo), { as: recipient })).status).toBe(404);
  });

  it("goes with the repository, and with either account", async () => {
    const one = await makeOffer();
    expect((await call("DELETE", at(one.repo), { as: one.owner })).status).toBe(204);
    expect(await pending(one.repo)).toEqual([]);
    const two = await makeOffer();
    await db.delete(users).where(eq(users.id, two.recipient.id));
    expect(await pending(two.repo)).toEqual([]);
    expect((await call("GET", at(two.repo))).status).toBe(200);
  });
});

describe("POST /repos/{owner}/{repo}/transfer/accept", () => {
  it("moves the repository within three round trips, and its old address leads to the new", async () => {
    const { owner, recipient, repo, moved } = await makeOffer();
    const { answer, line } = await logged(() => decide(repo, recipient, "accept"));
    expect(answer).toMatchObject({
      status: 202,
      body: {
        id: repo.id,
        full_name: `${recipient.name}/${repo.name}`,
        permissions: { admin: true, push: true, pull: true },
      },
    });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await pending(repo)).toEqual([]);

    const old = await call("GET", at(repo), { as: owner });
    expect(old.status).toBe(301);
    expect(old.headers.get("Location")).toBe(`https://forge.example/api/v1${at(moved)}`);
    expect((await call("PATCH", at(repo), { as: recipient, json: {} })).status).toBe(308);
    const git = await visit(
      "GET",
      `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`,
    );
    expect([301, 308]).toContain(git.status);
    expect(git.headers.get("Location")).toContain(`/${recipient.name}/${repo.name}.git/info/refs`);

    expect(await call("GET", at(moved), { as: owner })).toMatchObject({
      status: 200,
      body: { permissions: { admin: false, push: false, pull: true } },
    });
    expect(await eventsOf(repo)).toMatchObject([
      { type: "repository.transfer_started" },
      { type: "repository.transferred", actorId: recipient.id, ownerId: recipient.id },
    ]);
  });

  it("leaves the earlier owner nothing of a private repository", async () => {
    const { owner, recipient, repo, moved } = await makeOffer({ isPrivate: true });
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: owner });
    await call("PUT", `${at(repo)}/subscription`, { as: owner });
    await decide(repo, recipient, "accept");
    for (const path of [at(repo), at(moved), `/repositories/${repo.id}`]) {
      expect(await call("GET", path, { as: owner }), path).toMatchObject({ status: 404, body: "" });
    }
    for (const table of [stars, watches]) {
      const ofOwner = and(eq(table.repoId, repo.id), eq(table.userId, owner.id));
      expect(await db.select().from(table).where(ofOwner)).toEqual([]);
    }
    expect((await call("GET", at(moved), { as: recipient })).body.stars_count).toBe(0);
  });

  it("keeps collaborators, except the new owner and those whom a block separates from them", async () => {
    const { recipient, stranger, repo } = await makeOffer({ isPrivate: true });
    const [blocked, blocking] = [await make.user(), await make.user()];
    for (const user of [recipient, stranger, blocked, blocking]) {
      await make.collaborator(repo, user, 2);
      await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: user });
    }
    await db.insert(blocks).values([
      { blockerId: recipient.id, blockedId: blocked.id, createdAt: 1 },
      { blockerId: blocking.id, blockedId: recipient.id, createdAt: 1 },
    ]);
    expect((await decide(repo, recipient, "accept")).status).toBe(202);
    const left = await db
      .select({ userId: collaborations.userId })
      .from(collaborations)
      .where(eq(collaborations.repoId, repo.id));
    expect(left).toEqual([{ userId: stranger.id }]);
    const starred = await db.select().from(stars).where(eq(stars.repoId, repo.id));
    expect(new Set(starred.map(({ userId }) => userId))).toEqual(
      new Set([recipient.id, stranger.id]),
    );
  });

  it("keeps stars, watches, forks, keys, code and large files", async () => {
    const { owner, recipient, stranger, repo, moved } = await makeOffer();
    const { oid, pack } = makeCommit(repo.name);
    await storePush(repo, "refs/heads/main", oid, pack);
    const file = makeLargeFile(freshName("large"));
    expect((await upload(owner, repo, file)).status).toBe(200);
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: stranger });
    const forked = await call("POST", `${at(repo)}/forks`, { as: stranger, json: {} });
    expect(forked.status).toBe(202);
    await db.insert(publicKeys).values({
      userId: owner.id,
      repoId: repo.id,
      title: "deploy",
      content: "ssh-ed25519 AAAA",
      fingerprint: freshName("SHA256:"),
      createdAt: 1,
    });
    await decide(repo, recipient, "accept");

    expect((await call("GET", at(moved))).body).toMatchObject({ stars_count: 1, forks_count: 1 });
    expect((await call("GET", `${at(moved)}/branches/main`)).body.commit.id).toBe(oid);
    const next = makeCommit(freshName("next"));
    const pushed = await push(recipient, moved, next.oid, next.pack, "refs/heads/next");
    expect(pushed.status).toBe(200);
    expect((await push(owner, moved, next.oid, next.pack, "refs/heads/other")).body).toContain(
      "ng refs/heads/other User permission denied for writing.",
    );
    const batch = await askBatch(moved, "download", [{ oid: file.oid, size: file.size }]);
    expect(batch.body.objects[0].actions.download.href).toContain(`/${recipient.name}/`);
    expect((await call("GET", `${at(moved)}/keys`, { as: recipient })).body).toHaveLength(1);
    const fork = await call("GET", `/repos/${stranger.name}/${repo.name}`, { as: stranger });
    expect(fork.body.parent).toMatchObject({ full_name: `${recipient.name}/${repo.name}` });
  });

  it("follows the visibility of the new owner, in counters and search too", async () => {
    const { owner, repo } = await makeScene();
    const org = await make.org([owner], { visibility: "private" });
    const fan = await make.user();
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: fan });
    const search = (as?: TestUser) => call("GET", `/repos/search?q=${repo.name}`, as ? { as } : {});
    expect((await search()).body.data).toHaveLength(1);

    expect((await start(repo, owner, org.name)).status).toBe(202);
    expect((await search()).body.data).toEqual([]);
    expect((await search(owner)).body.data).toMatchObject([
      { full_name: `${org.name}/${repo.name}` },
    ]);
    expect((await call("GET", at(repo), { as: fan })).status).toBe(404);
    expect(await db.select().from(stars).where(eq(stars.repoId, repo.id))).toEqual([]);
    const [fanRow] = await db.select().from(users).where(eq(users.id, fan.id));
    expect(fanRow?.starCount).toBe(0);
  });

  // SECURITY: a fork shares its parent's objects.
  it("makes a fork private rather than more visible than its parent", async () => {
    const owner = await make.user();
    const [inside, outside] = [
      await make.org([owner], { visibility: "private" }),
      await make.org([owner]),
    ];
    const parent = await make.repo(inside);
    const other = await make.org([owner], { visibility: "private" });
    const fork = await make.repo(other, { parentId: parent.id, isFork: true });
    expect(await start(fork, owner, outside.name)).toMatchObject({
      status: 202,
      body: { private: true },
    });
    expect((await call("GET", `/repos/${outside.name}/${fork.name}`)).status).toBe(404);
  });

  it("refuses a second fork of one parent, and a name or a limit that was reached meanwhile", async () => {
    const parent = await make.repo(await make.user());
    const forked = await makeOffer({ parentId: parent.id, isFork: true });
    await make.repo(forked.recipient, { parentId: parent.id, isFork: true });
    expect((await decide(forked.repo, forked.recipient, "accept")).status).toBe(422);

    const named = await makeOffer();
    await make.repo(named.recipient, { name: named.repo.name });
    expect((await decide(named.repo, named.recipient, "accept")).status).toBe(422);

    const full = await makeOffer();
    await db.update(users).set({ repoCountMax: 0 }).where(eq(users.id, full.recipient.id));
    expect((await decide(full.repo, full.recipient, "accept")).status).toBe(403);

    for (const { repo, owner } of [forked, named, full]) {
      expect(await ownerOf(repo)).toBe(owner.id);
      expect(await pending(repo)).toHaveLength(1);
      expect(typesOf(await eventsOf(repo))).toEqual(["repository.transfer_started"]);
    }
  });

  it("is won by one of several requests at once", async () => {
    const { owner, recipient, repo } = await makeOffer();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => decide(repo, recipient, "accept")),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(202);
    // Those that began before the move was written lose it; later ones are led to the new address.
    expect(statuses.slice(1).every((status) => [308, 404].includes(status))).toBe(true);
    expect(await ownerOf(repo)).toBe(recipient.id);
    const moves = (await eventsOf(repo)).filter(({ type }) => type === "repository.transferred");
    expect(moves).toHaveLength(1);
    expect(owner.id).not.toBe(recipient.id);
  });

  it("and a rejection at once have one outcome", async () => {
    const { owner, recipient, repo } = await makeOffer();
    const [accepted, rejected] = await Promise.all([
      decide(repo, recipient, "accept"),
      decide(repo, recipient, "reject"),
    ]);
    const isAccepted = accepted.status === 202;
    expect(isAccepted).not.toBe(rejected.status === 200);
    expect(await ownerOf(repo)).toBe(isAccepted ? recipient.id : owner.id);
    expect(await pending(repo)).toEqual([]);
  });

  it("appears in feeds and streams, with the earlier full name", async () => {
    const { owner, recipient, repo, moved } = await makeOffer();
    await decide(repo, recipient, "accept");
    const content = `${owner.name}/${repo.name}`;
    const entry = { op_type: "transfer_repo", act_user: { login: recipient.name }, content };
    for (const path of [
      `${at(moved)}/activities/feeds`,
      `/users/${recipient.name}/activities/feeds?only-performed-by=true`,
    ]) {
      expect((await call("GET", path)).body, path).toMatchObject([entry]);
    }
    const { body } = await call("GET", `${at(moved)}/events`);
    expect(body.events).toMatchObject([
      {
        type: "repository.transferred",
        payload: { from: content, to: `${recipient.name}/${repo.name}` },
      },
    ]);
  });

  // SECURITY: who could not see the repository before does not learn where it came from.
  it("does not reveal the hidden owner from whom a repository came", async () => {
    const owner = await make.user();
    const hidden = await make.org([owner], { visibility: "private" });
    const repo = await make.repo(hidden);
    expect((await start(repo, owner, owner.name)).status).toBe(202);
    const path = `/repos/${owner.name}/${repo.name}`;
    expect((await call("GET", `${path}/activities/feeds`)).body).toEqual([]);
    expect((await call("GET", `${path}/events`)).body.events).toEqual([]);
    expect((await call("GET", `${path}/activities/feeds`, { as: owner })).body).toHaveLength(1);
  });

  it("is watched by the teams of the new owner", async () => {
    const { owner, repo } = await makeScene({ isPrivate: true });
    const [boss, member, outsider] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([boss, owner]);
    await make.member(org, await make.team(org), member);
    await make.member(org, await make.team(org, { all: false }), outsider);
    expect((await start(repo, owner, org.name)).status).toBe(202);
    const watching = await db.select().from(watches).where(eq(watches.repoId, repo.id));
    expect(new Set(watching.map(({ userId }) => userId))).toEqual(
      new Set([owner.id, boss.id, member.id]),
    );
  });

  it("is in the audit log of both owners", async () => {
    const { owner, recipient, repo } = await makeOffer();
    await decide(repo, recipient, "accept");
    const entries = await db
      .select({ kind: auditEvents.kind, ownerId: auditEvents.ownerId })
      .from(auditEvents)
      .where(eq(auditEvents.repoId, repo.id));
    expect(entries).toEqual([
      { kind: "repository.transfer_started", ownerId: owner.id },
      { kind: "repository.transferred", ownerId: owner.id },
      { kind: "repository.transferred", ownerId: recipient.id },
    ]);
  });

  it("gives a name back when the repository returns", async () => {
    const { owner, recipient, repo, moved } = await makeOffer();
    await decide(repo, recipient, "accept");
    expect((await start(moved, recipient, owner.name)).status).toBe(201);
    expect((await decide(moved, owner, "accept")).status).toBe(202);
    expect((await call("GET", at(repo))).status).toBe(200);
    expect((await call("GET", at(moved))).status).toBe(301);
  });
});
