import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { lfsLocks } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { eventsBy, eventsOf } from "../../support/events.ts";
import { askLfs, MEDIA_TYPE } from "../../support/large-files.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const locksOf = (repo: TestRepo) =>
  db.select().from(lfsLocks).where(eq(lfsLocks.repoId, repo.id)).orderBy(asc(lfsLocks.id));

const lock = (repo: TestRepo, as: { token: string }, path: unknown) =>
  askLfs("POST", repo, "locks", { as, json: { path, ref: { name: "refs/heads/main" } } });

const unlock = (repo: TestRepo, as: { token: string }, id: string | number, json: object = {}) =>
  askLfs("POST", repo, `locks/${id}/unlock`, { as, json });

/** A repository with its owner, a collaborator with write access, and one with read access. */
async function makeShared(fields = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const writer = await make.user();
  const reader = await make.user();
  await make.collaborator(repo, writer, 2);
  await make.collaborator(repo, reader, 1);
  return { owner, repo, writer, reader };
}

describe("POST /locks", () => {
  it("locks a path for one user, records an event, and returns the owner of the lock to the second", async () => {
    const { owner, repo, writer } = await makeShared();
    const { status, headers, body } = await lock(repo, writer, "a/b.psd");
    const expected = {
      id: expect.stringMatching(/^\d+$/),
      path: "a/b.psd",
      locked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      owner: { name: writer.name },
    };
    expect([status, headers.get("Content-Type"), body]).toEqual([
      201,
      MEDIA_TYPE,
      { lock: expected },
    ]);
    const again = await lock(repo, owner, "a/b.psd");
    expect([again.status, again.body]).toEqual([
      409,
      { lock: body.lock, message: "already created lock" },
    ]);
    expect((await lock(repo, writer, "a/b.psd")).status).toBe(409);
    expect(await locksOf(repo)).toMatchObject([{ path: "a/b.psd", ownerId: writer.id }]);
    expect(await eventsOf(repo)).toMatchObject([
      {
        type: "lfs_lock.created",
        actorId: writer.id,
        ownerId: owner.id,
        payload: { path: "a/b.psd" },
      },
    ]);
  });

  it("normalizes paths, and is case-sensitive", async () => {
    const { owner, repo } = await makeShared();
    expect((await lock(repo, owner, "/a//./b c/ü.bin/")).body.lock.path).toBe("a/b c/ü.bin");
    for (const same of ["a/b c/ü.bin", "./a/b c/ü.bin", "a/./b c//ü.bin"]) {
      expect([same, (await lock(repo, owner, same)).status]).toEqual([same, 409]);
    }
    for (const other of [
      "A/b c/ü.bin",
      "a/b c",
      "a\\b",
      "...",
      "a/..b",
      "%2e%2e/a",
      "x".repeat(4096),
    ]) {
      expect([other.slice(0, 9), (await lock(repo, owner, other)).status]).toEqual([
        other.slice(0, 9),
        201,
      ]);
    }
  });

  it("refuses invalid paths, and stores nothing", async () => {
    const { owner, repo } = await makeShared();
    const paths = [
      "",
      "/",
      ".",
      "..",
      "../a",
      "a/../../b",
      "a/..",
      "a\0b",
      "\ud800",
      "x".repeat(4097),
    ];
    for (const path of [...paths, "x".repeat(5000)]) {
      expect([path.slice(0, 9), (await lock(repo, owner, path)).status]).toEqual([
        path.slice(0, 9),
        422,
      ]);
    }
    for (const path of [undefined, null, 1, ["a"], { a: 1 }]) {
      expect([path, (await lock(repo, owner, path)).status]).toEqual([path, 400]);
    }
    for (const body of ["", "x", "[]", "null", '"a"']) {
      const answer = await askLfs("POST", repo, "locks", { as: owner, body });
      expect([body, answer.status]).toEqual([body, 400]);
    }
    expect([await locksOf(repo), await eventsBy(owner)]).toEqual([[], []]);
  });

  it("succeeds for exactly one of several concurrent requests", async () => {
    const { owner, repo, writer } = await makeShared();
    const answers = await Promise.all(
      [owner, writer, owner, writer].map((each) => lock(repo, each, "one")),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(3);
    expect([await locksOf(repo), await eventsOf(repo)]).toMatchObject([
      { length: 1 },
      { length: 1 },
    ]);
  });

  it("takes two round trips to D1", async () => {
    const { owner, repo } = await makeShared();
    const { line } = await logged(() => lock(repo, owner, "a"));
    expect(line).toMatchObject({ status: 201, d1Rounds: 2, r2Calls: 0, objectCalls: 0 });
  });
});

describe("GET /locks", () => {
  it("lists all locks in pages, or the lock with an id or a path", async () => {
    const { owner, repo, writer, reader } = await makeShared();
    const other = await makeShared();
    await lock(other.repo, other.owner, "a");
    const locks = [];
    for (const [at, path] of ["a", "b", "c", "d", "e"].entries()) {
      locks.push((await lock(repo, at % 2 === 0 ? owner : writer, path)).body.lock);
    }
    const ask = async (query: string, through?: typeof askLfs) =>
      (await (through ?? askLfs)("GET", repo, `locks${query}`, { as: reader })).body;
    expect(await ask("")).toEqual({ locks: locks });
    expect(await ask("?path=c")).toEqual({ locks: [locks[2]] });
    expect(await ask("?path=.%2Fc%2F")).toEqual({ locks: [locks[2]] });
    expect(await ask(`?id=${locks[3].id}`)).toEqual({ locks: [locks[3]] });
    expect(await ask(`?id=${locks[3].id}&path=c`)).toEqual({ locks: [] });
    const [foreign] = await locksOf(other.repo);
    expect(await ask(`?id=${foreign?.id}`)).toEqual({ locks: [] });

    const seen = [];
    let cursor = "";
    for (let pages = 0; pages < 3; pages++) {
      const page = await ask(`?limit=2${cursor}`);
      seen.push(...page.locks);
      cursor = `&cursor=${page.next_cursor}`;
      expect(page.next_cursor !== undefined).toBe(pages < 2);
    }
    expect(seen).toEqual(locks);
    for (const all of [
      "?limit=0",
      "?limit=-1",
      "?limit=5",
      "?limit=999999",
      "?limit=",
      "?cursor=",
    ]) {
      expect([all, await ask(all)]).toEqual([all, { locks: locks }]);
    }
    const small = doorsWith({ LFS_LOCKS_PAGING_NUM: "3" });
    const bounded = (method: string, at: TestRepo, rest: string, sending: object) =>
      askLfs(method, at, rest, sending, small);
    expect(await ask("?limit=4", bounded as typeof askLfs)).toEqual({
      locks: locks.slice(0, 3),
      next_cursor: locks[2].id,
    });
  });

  it("refuses an invalid cursor, limit, id or path", async () => {
    const { owner, repo } = await makeShared();
    const wrong = ["cursor=x", "cursor=-1", "cursor=1.5", "limit=x", "limit=1.5", "id=x", "id=-1"];
    for (const query of [
      ...wrong,
      `id=${"9".repeat(5000)}`,
      `cursor=${"9".repeat(16)}`,
      "id=%00",
    ]) {
      const answer = await askLfs("GET", repo, `locks?${query}`, { as: owner });
      expect([query.slice(0, 9), answer.status]).toEqual([query.slice(0, 9), 400]);
    }
    for (const path of ["..", "a%00", "x".repeat(5000)]) {
      const answer = await askLfs("GET", repo, `locks?path=${path}`, { as: owner });
      expect([path.slice(0, 9), answer.status]).toEqual([path.slice(0, 9), 422]);
    }
  });
});

describe("POST /locks/verify", () => {
  it("divides locks into the caller's own and others', in pages", async () => {
    const { owner, repo, writer } = await makeShared();
    const first = (await lock(repo, owner, "a")).body.lock;
    const second = (await lock(repo, writer, "b")).body.lock;
    const ask = async (json: object, as = owner) =>
      askLfs("POST", repo, "locks/verify", { as, json });
    expect((await ask({})).body).toEqual({ ours: [first], theirs: [second] });
    expect((await ask({ ref: { name: "refs/heads/main" } }, writer)).body).toEqual({
      ours: [second],
      theirs: [first],
    });
    const page = await ask({ limit: 1 });
    expect(page.body).toEqual({ ours: [first], theirs: [], next_cursor: first.id });
    expect((await ask({ cursor: page.body.next_cursor, limit: 1 })).body).toEqual({
      ours: [],
      theirs: [second],
    });
    expect((await ask({ cursor: "", limit: 0 })).body.ours).toEqual([first]);
    for (const odd of [{ cursor: 1 }, { cursor: "x" }, { limit: "1" }, { limit: 1.5 }, []]) {
      expect([odd, (await ask(odd)).status]).toEqual([odd, 400]);
    }
  });
});

describe("POST /locks/{id}/unlock", () => {
  it("deletes the caller's own lock and records an event", async () => {
    const { owner, repo, writer } = await makeShared();
    const { body } = await lock(repo, writer, "a");
    const { status, body: answer } = await unlock(repo, writer, body.lock.id);
    expect([status, answer]).toEqual([200, { lock: body.lock }]);
    expect(await locksOf(repo)).toEqual([]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "lfs_lock.created" },
      { type: "lfs_lock.deleted", actorId: writer.id, payload: { path: "a" } },
    ]);
    expect((await unlock(repo, writer, body.lock.id)).status).toBe(404);
    expect((await lock(repo, owner, "a")).status).toBe(201);
  });

  it("deletes another user's lock only with force", async () => {
    const { owner, repo, writer } = await makeShared();
    const { body } = await lock(repo, owner, "a");
    for (const json of [{}, { force: false }, { force: null }]) {
      expect([json, (await unlock(repo, writer, body.lock.id, json)).status]).toEqual([json, 403]);
    }
    expect((await unlock(repo, writer, body.lock.id, { force: "true" })).status).toBe(400);
    expect([await locksOf(repo), await eventsBy(writer)]).toEqual([[expect.anything()], []]);
    expect((await unlock(repo, writer, body.lock.id, { force: true })).status).toBe(200);
    expect(await locksOf(repo)).toEqual([]);
  });

  it("returns 404 for an invalid or unknown id", async () => {
    const { owner, repo } = await makeShared();
    for (const id of [
      "x",
      "-1",
      "1.5",
      "0",
      "99999999",
      "9".repeat(16),
      "9".repeat(5000),
      "%00",
      "1%2F..",
      "%2e%2e%2f1",
    ]) {
      const answer = await unlock(repo, owner, id, { force: true });
      expect([id.slice(0, 9), answer.status]).toEqual([id.slice(0, 9), 404]);
    }
  });
});

describe("access to locks", () => {
  // SECURITY: ids are global, so the lock must belong to the repository of the path.
  it("requires write access to the repository of the lock", async () => {
    const { owner, repo, reader } = await makeShared();
    const other = await makeShared();
    const { body } = await lock(repo, owner, "a");
    for (const as of [other.owner, other.writer]) {
      expect((await unlock(other.repo, as, body.lock.id, { force: true })).status).toBe(404);
    }
    const verify = { json: {} };
    for (const sending of [{}, { as: reader }]) {
      const asks: [string, object][] = [
        ["locks", { ...sending, json: { path: "b" } }],
        ["locks/verify", { ...sending, ...verify }],
        [`locks/${body.lock.id}/unlock`, { ...sending, json: { force: true } }],
      ];
      for (const [rest, what] of asks) {
        const { status, headers } = await askLfs("POST", repo, rest, what);
        expect([rest, status, headers.get("WWW-Authenticate")]).toEqual([
          rest,
          401,
          'Basic realm="gitea-lfs"',
        ]);
      }
    }
    expect((await askLfs("GET", repo, "locks")).status).toBe(401);
    expect(await locksOf(repo)).toHaveLength(1);
    expect([await eventsBy(reader), await eventsBy(other.owner)]).toEqual([[], []]);
  });

  it("gets callers who may not see the repository the same response as for a missing one", async () => {
    const { owner, repo } = await makeShared({ isPrivate: true });
    const { body } = await lock(repo, owner, "a");
    const stranger = await make.user();
    const absent = { owner: repo.owner, name: freshName("absent") };
    const narrow = await make.token(owner, { scopes: "read:repository" });
    const bound = await make.token(owner, { repos: [await make.repo(owner)] });
    const publicOnly = await make.token(owner, { scopes: "public-only,all" });
    const asks: [string, string, object | undefined][] = [
      ["GET", "locks", undefined],
      ["POST", "locks", { path: "b" }],
      ["POST", "locks/verify", {}],
      ["POST", `locks/${body.lock.id}/unlock`, { force: true }],
    ];
    const bare = ({ status, body: { message } }: Awaited<ReturnType<typeof askLfs>>) => [
      status,
      message,
    ];
    for (const [method, rest, json] of asks) {
      const at = (target: typeof absent, sending: object) =>
        askLfs(method, target, rest, { ...sending, ...(json && { json }) });
      for (const sending of [{}, { as: stranger }, { token: bound }, { token: publicOnly }]) {
        const hidden = bare(await at(repo, sending));
        expect([rest, hidden]).toEqual([rest, bare(await at(absent, sending))]);
        expect(hidden[0]).toBe(Object.keys(sending).length === 0 ? 401 : 404);
      }
      const { status } = await at(repo, { token: narrow });
      expect([rest, status]).toEqual([rest, method === "GET" ? 200 : 403]);
    }
    expect(await locksOf(repo)).toHaveLength(1);
  });
});
