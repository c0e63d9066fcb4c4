import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { publicKeys, type Repository } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { makeSshKey } from "../../support/keys.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { statusesOf } from "../../support/statuses.ts";

const pathOf = (repo: TestRepo) => `/repos/${repo.owner}/${repo.name}/keys`;
const keysOf = (repo: Repository) =>
  db.select().from(publicKeys).where(eq(publicKeys.repoId, repo.id));

const post = (user: TestUser, repo: TestRepo, json: object = {}) =>
  call("POST", pathOf(repo), {
    as: user,
    json: { title: "server", key: makeSshKey().line, ...json },
  });

/** Adds a new key and returns the API's response. */
async function add(user: TestUser, repo: TestRepo, json: object = {}) {
  const answer = await post(user, repo, json);
  expect(answer.status).toBe(201);
  return answer.body;
}

describe("POST /repos/{owner}/{repo}/keys", () => {
  it("adds a deploy key, and records an event", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { line, fingerprint } = makeSshKey();

    const answer = await post(owner, repo, { key: line });

    const { id } = answer.body;
    expect(answer).toMatchObject({
      status: 201,
      body: {
        id: expect.any(Number),
        key_id: id,
        key: line,
        url: `https://forge.example/api/v1${pathOf(repo)}/${id}`,
        title: "server",
        fingerprint,
        // Gitea's default, which clients rely on.
        read_only: false,
        repository: { id: repo.id, full_name: `${repo.owner}/${repo.name}` },
      },
    });
    expect(await eventsIn(owner)).toMatchObject([
      { type: "public_key.added", repoId: repo.id, actorId: owner.id, payload: { fingerprint } },
    ]);
  });

  it("stores whether the key is read-only", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);

    const key = await add(owner, repo, { read_only: true });

    expect(key.read_only).toBe(true);
    expect(await keysOf(repo)).toMatchObject([{ isReadOnly: true }]);
  });

  it("requires an administrator of the repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const [reader, writer, admin] = [await make.user(), await make.user(), await make.user()];
    await make.collaborator(repo, reader, 1);
    await make.collaborator(repo, writer, 2);
    await make.collaborator(repo, admin, 3);

    expect((await post(reader, repo)).status).toBe(403);
    expect((await post(writer, repo)).status).toBe(403);
    expect((await call("POST", pathOf(repo), { json: {} })).status).toBe(401);
    expect(await keysOf(repo)).toEqual([]);
    expect(await eventsIn(owner)).toEqual([]);
    expect((await post(admin, repo)).status).toBe(201);
  });

  it("is not found for another user's private repository", async () => {
    const repo = await make.repo(await make.user(), { isPrivate: true, visibility: "private" });

    expect(await post(await make.user(), repo)).toMatchObject({ status: 404, body: "" });
    expect(await keysOf(repo)).toEqual([]);
  });

  it("refuses a key or a title that the repository already has", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const key = await add(owner, repo);

    const sameKey = await post(owner, repo, { title: "another", key: key.key });
    const sameTitle = await post(owner, repo, { title: "server" });

    expect(sameKey).toMatchObject({
      status: 422,
      body: { message: "Key content has been used as deploy key" },
    });
    expect(sameTitle).toMatchObject({ status: 422, body: { message: "Key title has been used" } });
    expect(await keysOf(repo)).toHaveLength(1);
    expect(await eventsIn(owner)).toHaveLength(1);
  });

  it("accepts the same key for several repositories, and removes it from each individually", async () => {
    const owner = await make.user();
    const [first, second] = [await make.repo(owner), await make.repo(owner)];
    const { line } = makeSshKey();
    const key = await add(owner, first, { key: line });
    await add(owner, second, { key: line });

    await call("DELETE", `${pathOf(first)}/${key.id}`, { as: owner });

    expect(await keysOf(first)).toEqual([]);
    expect(await keysOf(second)).toHaveLength(1);
  });

  // SECURITY: a key must identify either a user or repositories.
  it("refuses a key of a user's account", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { line } = makeSshKey();
    await call("POST", "/user/keys", { as: await make.user(), json: { title: "x", key: line } });

    expect(await post(owner, repo, { key: line })).toMatchObject({
      status: 422,
      body: { message: "Key content has been used as non-deploy key" },
    });
    expect(await keysOf(repo)).toEqual([]);
    expect(await eventsIn(owner)).toEqual([]);
  });

  it("adds a key to either a user or a repository when both request it concurrently", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { line, fingerprint } = makeSshKey();

    const answers = await Promise.all([
      post(owner, repo, { key: line }),
      call("POST", "/user/keys", { as: owner, json: { title: "x", key: line } }),
    ]);

    expect(statusesOf(answers)).toEqual([201, 422]);
    expect(
      await db.select().from(publicKeys).where(eq(publicKeys.fingerprint, fingerprint)),
    ).toHaveLength(1);
  });

  it.each([
    ["no title", { title: "" }, "[title]: must not be empty"],
    ["no key", { key: "" }, "[key]: must not be empty"],
    ["what is no key", { key: "hello" }, "Invalid key content: this is not an SSH public key"],
    ["a flag that is a text", { read_only: "yes" }, "[read_only]: must be true or false"],
  ])("refuses %s", async (_, json, message) => {
    const owner = await make.user();
    const repo = await make.repo(owner);

    expect(await post(owner, repo, json)).toMatchObject({ status: 422, body: { message } });
    expect(await keysOf(repo)).toEqual([]);
    expect(await eventsIn(owner)).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}/keys", () => {
  it("lists the repository's keys: all, a page, or by fingerprint", async () => {
    const owner = await make.user();
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    const first = await add(owner, repo, { title: "first" });
    const second = await add(owner, repo, { title: "second" });
    await add(owner, other);
    const list = async (query: string) => {
      const { body } = await call("GET", `${pathOf(repo)}${query}`, { as: owner });
      return body.map(({ id }: { id: number }) => id);
    };

    expect(await list("")).toEqual([first.id, second.id]);
    expect(await list("?page=2&limit=1")).toEqual([second.id]);
    const query = new URLSearchParams({ fingerprint: second.fingerprint });
    expect(await list(`?${query}`)).toEqual([second.id]);
  });

  it("lists the one key with an id, of this repository only", async () => {
    const owner = await make.user();
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    await add(owner, repo, { title: "first" });
    const second = await add(owner, repo, { title: "second" });
    const foreign = await add(owner, other);
    const list = async (query: string) => {
      const { status, headers, body } = await call("GET", `${pathOf(repo)}?${query}`, {
        as: owner,
      });
      const ids = body.map(({ id }: { id: number }) => id);
      return { status, total: headers.get("X-Total-Count"), ids };
    };

    const one = { status: 200, total: "1", ids: [second.id] };
    const none = { status: 200, total: "0", ids: [] };
    expect(await list(`key_id=${second.key_id}`)).toEqual(one);
    const { fingerprint } = second;
    const both = new URLSearchParams({ key_id: second.key_id, fingerprint });
    expect(await list(String(both))).toEqual(one);
    expect(await list(`key_id=${foreign.key_id}`)).toEqual(none);
    expect(await list("key_id=9223372036854775807")).toEqual(none);
    const otherwise = new URLSearchParams({ key_id: second.key_id, fingerprint: "SHA256:x" });
    expect(await list(String(otherwise))).toEqual(none);
  });

  it("refuses a caller with only write access", async () => {
    const [owner, writer] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, writer, 2);
    const key = await add(owner, repo);

    expect((await call("GET", pathOf(repo), { as: writer })).status).toBe(403);
    expect((await call("GET", `${pathOf(repo)}/${key.id}`, { as: writer })).status).toBe(403);
    expect((await call("GET", pathOf(repo))).status).toBe(401);
  });
});

describe("one deploy key", () => {
  it("is returned and removed under its repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const key = await add(owner, repo);
    const path = `${pathOf(repo)}/${key.id}`;

    expect(await call("GET", path, { as: owner })).toMatchObject({ status: 200, body: key });
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204, body: "" });
    expect(await keysOf(repo)).toEqual([]);
    expect((await eventsIn(owner)).at(-1)).toMatchObject({
      type: "public_key.removed",
      repoId: repo.id,
    });
    expect((await call("GET", path, { as: owner })).status).toBe(404);
    expect((await call("DELETE", path, { as: owner })).status).toBe(404);
  });

  // SECURITY: an id is valid only together with its repository.
  it("is not found under another repository, even of the same owner", async () => {
    const owner = await make.user();
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    const key = await add(owner, repo);

    for (const method of ["GET", "DELETE"]) {
      const answer = await call(method, `${pathOf(other)}/${key.id}`, { as: owner });
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
    expect(await keysOf(repo)).toHaveLength(1);
    expect(await eventsIn(owner)).toHaveLength(1);
  });

  it("is not removed by a caller who may not administer its repository", async () => {
    const [owner, writer] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, writer, 2);
    const key = await add(owner, repo);

    expect((await call("DELETE", `${pathOf(repo)}/${key.id}`, { as: writer })).status).toBe(403);
    expect(await keysOf(repo)).toHaveLength(1);
  });
});
