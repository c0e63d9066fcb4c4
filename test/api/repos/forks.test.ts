import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { placeOf } from "../../support/git.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, makeCommit, push, refsOf } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

/** A repository with one commit. */
async function makePushed(owner: TestUser, fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const commit = makeCommit(freshName("text"));
  await push(owner, repo, commit.oid, commit.pack);
  return { repo, commit };
}

const fork = (as: TestUser, repo: TestRepo, json: object = {}) =>
  call("POST", `/repos/${repo.owner}/${repo.name}/forks`, { as, json });

const forksOf = (repo: TestRepo) =>
  db.select().from(repositories).where(eq(repositories.parentId, repo.id));

describe("POST /repos/{owner}/{repo}/forks", () => {
  it("creates a repository with the same refs, for code and pull requests, without copying packs", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo, commit } = await makePushed(owner, { description: "An engine" });
    const files = await filesOf(repo);
    const { status, body } = await fork(forker, repo);

    expect(status).toBe(202);
    expect(body).toMatchObject({
      full_name: `${forker.name}/${repo.name}`,
      description: "An engine",
      fork: true,
      empty: false,
      private: false,
      has_issues: false,
      has_wiki: false,
      has_pull_requests: true,
      forks_count: 0,
      permissions: { admin: true, push: true, pull: true },
      parent: { id: repo.id, full_name: `${owner.name}/${repo.name}`, forks_count: 1 },
    });
    expect(body.parent).not.toHaveProperty("parent");
    const location = await placeOf(body.id);
    expect(await refsOf(location)).toEqual([
      { name: "refs/heads/main", oid: commit.oid, peeledOid: null },
    ]);
    expect(await filesOf(location)).toEqual(files);
    expect(await eventsOf(body)).toMatchObject([
      { type: "repository.forked", actorId: forker.id, payload: { parentId: repo.id } },
    ]);
    const again = await call("GET", `/repos/${body.full_name}`, { as: forker });
    expect(again.body).toEqual({ ...body, updated_at: again.body.updated_at });
    const source = await call("GET", `/repos/${repo.owner}/${repo.name}`);
    expect(source.body).toMatchObject({ forks_count: 1, fork: false });
  });

  it("lets fork and parent change independently", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo } = await makePushed(owner);
    const { body } = await fork(forker, repo, { name: freshName("fork") });
    const location = await placeOf(body.id);
    const [here, there] = [makeCommit("here"), makeCommit("there")];
    await push(owner, repo, here.oid, here.pack, "refs/heads/here");
    await push(
      forker,
      { owner: forker.name, name: body.name },
      there.oid,
      there.pack,
      "refs/heads/there",
    );
    const names = async (of: typeof location) => (await refsOf(of)).map(({ name }) => name);
    expect(await names(repo)).toEqual(["refs/heads/here", "refs/heads/main"]);
    expect(await names(location)).toEqual(["refs/heads/main", "refs/heads/there"]);
  });

  it("has a constant cost: three round trips to D1, one call of a Durable Object, none to R2", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo } = await makePushed(owner);
    const org = await make.org([forker]);
    const { answer, line } = await logged(() => fork(forker, repo, { organization: org.name }));
    expect(answer.status).toBe(202);
    expect(line).toMatchObject({ d1Rounds: 3, objectCalls: 1, r2Calls: 0 });
  });

  it("allows one fork for each owner and parent, and none for the parent's owner", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo } = await makePushed(owner);
    const taken = await make.repo(forker);
    const refusals = [
      [owner, {}, "can't be forked into the account that owns it"],
      [forker, { name: taken.name }, "same name already exists"],
    ] as const;
    for (const [as, json, message] of refusals) {
      const { status, body } = await fork(as, repo, json);
      expect([status, body.message]).toEqual([409, expect.stringContaining(message)]);
      expect(await forksOf(repo)).toEqual([]);
    }
    const answers = await Promise.all(
      ["a", "b", "c"].map((name) => fork(forker, repo, { name: freshName(name) })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([202, 409, 409]);
    expect(await forksOf(repo)).toHaveLength(1);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.message).toContain("repository is already forked by user");
  });

  it("answers 409 beyond the number of repositories that the forker may have", async () => {
    const owner = await make.user();
    const forker = await make.user({ repoCountMax: 0 });
    const { repo } = await makePushed(owner);
    const { status, body } = await fork(forker, repo);
    expect([status, body.message]).toEqual([409, expect.stringContaining("maximum limit")]);
    expect(await forksOf(repo)).toEqual([]);
  });

  // SECURITY: forking into an organization creates a repository there.
  it("forks only into organizations where the caller may create repositories", async () => {
    const [owner, forker, outsider] = [await make.user(), await make.user(), await make.user()];
    const { repo } = await makePushed(owner);
    const org = await make.org([owner]);
    const hidden = await make.org([owner], { visibility: "private" });
    const creators = await make.team(org, { creates: true });
    await make.member(org, creators, forker);
    const readers = await make.team(org);
    const reader = await make.user();
    await make.member(org, readers, reader);

    const refusals = [
      [reader, org.name, 403],
      [outsider, org.name, 403],
      [outsider, hidden.name, 422],
      [outsider, "no-such-organization", 422],
      [outsider, owner.name, 422],
    ] as const;
    for (const [as, organization, expected] of refusals) {
      expect((await fork(as, repo, { organization })).status).toBe(expected);
      expect(await forksOf(repo)).toEqual([]);
    }
    const { status, body } = await fork(forker, repo, { organization: org.name });
    expect([status, body.full_name]).toEqual([202, `${org.name}/${repo.name}`]);
    // The creator may use it, although the team grants only the right to create.
    expect(body.permissions).toEqual({ admin: true, push: true, pull: true });
    const seen = await call("GET", `/repos/${body.full_name}`, { as: forker });
    expect(seen.body.permissions.admin).toBe(true);
  });

  it.each([
    ["a private repository", { isPrivate: true }, "public", "public", true],
    ["one of a private organization", {}, "private", "public", true],
    ["one of a limited organization", {}, "limited", "public", true],
    ["one of a limited organization, to a limited account", {}, "limited", "limited", false],
    ["a public repository", {}, "public", "limited", false],
  ] as const)(
    // SECURITY: a fork must not show content to people who may not see the parent.
    "makes a fork that is no more open than its parent: %s",
    async (_, fields, ownerVisibility, forkerVisibility, isPrivate) => {
      const [admin, forker] = [
        await make.user(),
        await make.user({ visibility: forkerVisibility }),
      ];
      const org = await make.org([admin], { visibility: ownerVisibility });
      await make.member(org, await make.team(org), forker);
      const repo = await make.repo(org, fields);
      const { status, body } = await fork(forker, repo);
      expect([status, body.private]).toEqual([202, isPrivate]);
    },
  );

  // SECURITY: otherwise a reader could publish the content of a private repository through a fork.
  it("keeps the fork of a private repository private, whatever its owner sets", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo } = await makePushed(owner, { isPrivate: true });
    await make.collaborator(repo, forker, ACCESS.read);
    const { body } = await fork(forker, repo);
    const path = `/repos/${body.full_name}`;
    const edited = await call("PATCH", path, { as: forker, json: { private: false } });
    expect([edited.status, edited.body.private]).toEqual([200, true]);
    expect((await call("GET", path)).status).toBe(404);
    // A caller who may see only the fork does not see its parent.
    const guest = await make.user();
    await make.collaborator({ ...repo, id: body.id }, guest, ACCESS.read);
    const seen = await call("GET", path, { as: guest });
    expect([seen.status, seen.body.fork]).toEqual([200, true]);
    expect(seen.body).not.toHaveProperty("parent");
  });

  it("requires read access to the code", async () => {
    const [owner, reader, stranger] = [await make.user(), await make.user(), await make.user()];
    const { repo } = await makePushed(owner, { isPrivate: true });
    await make.collaborator(repo, reader, ACCESS.read);
    const path = `/repos/${repo.owner}/${repo.name}/forks`;
    expect((await fork(stranger, repo)).status).toBe(404);
    expect((await call("POST", path, { json: {} })).status).toBe(404);
    const bound = await make.token(reader, { repos: [repo] });
    const narrow = await make.token(reader, { scopes: "public-only,write:repository" });
    const reading = await make.token(reader, { scopes: "read:repository" });
    for (const [token, status] of [
      [bound, 403],
      [narrow, 404],
      [reading, 403],
    ] as const) {
      expect((await call("POST", path, { token, json: {} })).status).toBe(status);
    }
    await db.update(repositories).set({ hasCode: false }).where(eq(repositories.id, repo.id));
    expect((await fork(reader, repo)).status).toBe(403);
    expect(await forksOf(repo)).toEqual([]);
    const open = await make.repo(owner);
    const anonymous = await call("POST", `/repos/${open.owner}/${open.name}/forks`, { json: {} });
    expect(anonymous.status).toBe(401);
  });

  it("refuses invalid names, and an invalid body", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    for (const json of [{ name: "a/b" }, { name: "x.git" }, { name: "n".repeat(101) }]) {
      expect((await fork(forker, repo, json)).status).toBe(422);
    }
    const bare = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, { as: forker });
    expect([bare.status, bare.body.message]).toEqual([
      422,
      "[]: must have the Content-Type application/json",
    ]);
    expect(await forksOf(repo)).toEqual([]);
  });

  it("outlives its parent, and is no longer a fork then", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo } = await makePushed(owner);
    const { body } = await fork(forker, repo);
    await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
    const left = await call("GET", `/repos/${body.full_name}`);
    expect([left.status, left.body.fork]).toEqual([200, false]);
    expect(left.body).not.toHaveProperty("parent");
  });
});

describe("GET /repos/{owner}/{repo}/forks", () => {
  it("lists the forks that the caller may see, oldest first, in pages, with a total", async () => {
    const owner = await make.user();
    const { repo } = await makePushed(owner);
    const names: string[] = [];
    for (const visibility of ["public", "private", "public", "limited"] as const) {
      const org = await make.org([owner], { visibility });
      const { body } = await fork(owner, repo, { organization: org.name });
      names.push(body.full_name);
    }
    const path = `/repos/${repo.owner}/${repo.name}/forks`;
    const list = async (query: string, as?: TestUser) => {
      const { body, headers } = await call("GET", `${path}${query}`, as ? { as } : {});
      return [
        (body as { full_name: string }[]).map((each) => each.full_name),
        headers.get("X-Total-Count"),
      ];
    };
    expect(await list("", owner)).toEqual([names, "4"]);
    expect(await list("")).toEqual([[names[0], names[2]], "2"]);
    expect(await list("", await make.user())).toEqual([[names[0], names[2], names[3]], "3"]);
    expect(await list("?page=2&limit=3", owner)).toEqual([[names[3]], "4"]);
    const { body } = await call("GET", path);
    expect(body[0].parent.full_name).toBe(`${repo.owner}/${repo.name}`);
  });
});
