import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { lfsLocks } from "../../../src/db/schema/index.ts";
import { removeLooseFiles } from "../../../src/domain/code/lfs/remove-loose-files.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeFiles } from "../../support/files.ts";
import { placeOf } from "../../support/git.ts";
import {
  askBatch,
  askLfs,
  fetchBytes,
  fetchObject,
  largeFilesOf,
  lfsSizeOf,
  looseOf,
  makeLargeFile,
  objectsOf,
  pointerTo,
  type TestFile,
  upload,
} from "../../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { push } from "../../support/push.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

async function makeStored(fields = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const file = makeLargeFile(freshName("secret"));
  expect((await upload(owner, repo, file)).status).toBe(200);
  return { owner, repo, file };
}

async function forkOf(repo: TestRepo, forker: TestUser) {
  const path = `/repos/${repo.owner}/${repo.name}/forks`;
  const { status, body } = await call("POST", path, {
    as: forker,
    json: { name: freshName("fork") },
  });
  expect(status).toBe(202);
  const location = await placeOf(body.id);
  return { ...location, id: body.id as number, owner: forker.name, name: body.name as string };
}

const remove = async (repo: { owner: string; name: string }, as: TestUser) =>
  expect((await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as })).status).toBe(204);

const asPointer = ({ oid, size }: TestFile) => ({ oid, size });

describe("a large file of a private repository", () => {
  // SECURITY: a different response would reveal the repository or the file.
  it("gets other callers the same response as a file of a missing repository", async () => {
    const { owner, repo, file } = await makeStored({ isPrivate: true });
    const stranger = await make.user();
    const other = await make.repo(stranger);
    const absent = { owner: repo.owner, name: freshName("absent") };
    const bound = await make.token(owner, { repos: [await make.repo(owner)] });
    const publicOnly = await make.token(owner, { scopes: "public-only,all" });
    const asks = [
      ["POST", "objects/batch", { operation: "download", objects: [asPointer(file)] }],
      ["POST", "objects/batch", { operation: "upload", objects: [asPointer(file)] }],
      ["GET", `objects/${file.oid}`, undefined],
      ["GET", `objects/${file.oid}/bmFtZQ`, undefined],
      ["PUT", `objects/${file.oid}/${file.size}`, undefined],
      ["POST", "verify", asPointer(file)],
    ] as const;
    for (const [method, rest, json] of asks) {
      for (const sending of [{}, { as: stranger }, { token: bound }, { token: publicOnly }]) {
        const at = async (target: typeof absent) => {
          const answer = await askLfs(method, target, rest, { ...sending, ...(json && { json }) });
          return [answer.status, answer.body.message, answer.headers.get("WWW-Authenticate")];
        };
        const hidden = await at(repo);
        expect(hidden[0]).toBe(Object.keys(sending).length === 0 ? 401 : 404);
        expect([rest, hidden]).toEqual([rest, await at(absent)]);
      }
    }
    // Neither through a repository of the caller's own.
    expect((await fetchObject(other, file.oid, {}, stranger)).status).toBe(404);
    expect(
      (await askLfs("POST", other, "verify", { as: stranger, json: asPointer(file) })).status,
    ).toBe(404);
    expect(await objectsOf(repo)).toHaveLength(1);

    const reader = await make.user();
    await make.collaborator(repo, reader, 1);
    expect((await fetchObject(repo, file.oid, {}, reader)).bytes).toEqual(file.bytes);
    const { status, headers } = await fetchObject(repo, file.oid, {
      headers: { "If-None-Match": `"${file.oid}"`, Range: "bytes=0-0" },
    });
    expect([status, headers.get("ETag")]).toEqual([401, null]);
  });

  it("is not accessible as soon as the caller loses access, and responses are not shared by caches", async () => {
    const { owner, repo, file } = await makeStored();
    const first = await fetchObject(repo, file.oid);
    expect([first.status, first.headers.get("Cache-Control")]).toEqual([
      200,
      "max-age=0, private, must-revalidate, no-transform",
    ]);
    await call("PATCH", `/repos/${repo.owner}/${repo.name}`, {
      as: owner,
      json: { private: true },
    });
    const tag = { headers: { "If-None-Match": `"${file.oid}"` } };
    expect((await fetchObject(repo, file.oid, tag)).status).toBe(401);
    expect((await fetchObject(repo, file.oid, {}, await make.user())).status).toBe(404);
    expect((await fetchObject(repo, file.oid, {}, owner)).status).toBe(200);
  });
});

describe("knowing the oid of a large file", () => {
  // SECURITY: an oid appears in pointer files and must not grant access to the content.
  it("grants no access: a client must upload the content to its repository", async () => {
    const { repo, file } = await makeStored({ isPrivate: true });
    const thief = await make.user();
    const own = await make.repo(thief);
    const { body } = await askBatch(own, "upload", [asPointer(file)], { as: thief });
    expect(body.objects[0].actions.upload.href).toContain(`/${own.name}.git/`);
    const guess = { ...file, bytes: new Uint8Array(file.size) };
    expect((await upload(thief, own, guess)).status).toBe(422);
    expect((await upload(thief, own, { ...file, bytes: new Uint8Array(0) })).status).toBe(422);
    expect(await objectsOf(own)).toEqual([]);
    // A committed pointer to the file is served as plain text.
    const made = makeFiles({ "a.bin": pointerTo(file) });
    expect((await push(thief, own, made.oid, made.pack)).body).toContain("ok refs/heads/main");
    const media = `/api/v1/repos/${own.owner}/${own.name}/media/a.bin`;
    expect(new TextDecoder().decode((await fetchBytes(media)).bytes)).toBe(pointerTo(file));
    expect((await fetchObject(own, file.oid)).status).toBe(404);
    // A client that has the content uploads it, and it is stored separately.
    expect((await upload(thief, own, file)).status).toBe(200);
    const [[ours], [theirs]] = [await objectsOf(own), await objectsOf(repo)];
    expect(ours?.uploadId).not.toBe(theirs?.uploadId);
  });

  it("grants no access within a fork network either", async () => {
    const { owner, repo } = await makeStored();
    const forker = await make.user();
    const fork = await forkOf(repo, forker);
    const late = makeLargeFile(freshName("late"));
    const away = makeLargeFile(freshName("away"));
    expect((await upload(owner, repo, late)).status).toBe(200);
    expect((await upload(forker, fork, away)).status).toBe(200);
    expect((await fetchObject(fork, late.oid, {}, forker)).status).toBe(404);
    expect((await fetchObject(repo, away.oid, {}, owner)).status).toBe(404);
    const { body } = await askBatch(fork, "upload", [asPointer(late)], { as: forker });
    expect(body.objects[0].actions.upload).toBeDefined();
  });
});

describe("a fork", () => {
  it("has the large files of its parent, without a copy of the bytes", async () => {
    const { owner, repo, file } = await makeStored();
    const second = makeLargeFile(freshName("second"));
    await upload(owner, repo, second);
    const before = await largeFilesOf(repo);
    const forker = await make.user();
    const fork = await forkOf(repo, forker);
    expect(await largeFilesOf(repo)).toEqual(before);
    for (const { oid, bytes } of [file, second]) {
      expect((await fetchObject(fork, oid)).bytes).toEqual(bytes);
    }
    expect(await lfsSizeOf(fork)).toBe(file.size + second.size);
    const { body } = await askBatch(fork, "upload", [asPointer(file)], { as: forker });
    expect(body.objects).toEqual([asPointer(file)]);
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: forker });
    expect(await db.select().from(lfsLocks).where(eq(lfsLocks.repoId, fork.id))).toEqual([]);
  });

  it("needs no further round trips for them", async () => {
    const { repo } = await makeStored();
    const path = `/repos/${repo.owner}/${repo.name}/forks`;
    const as = await make.user();
    const { line } = await logged(() => call("POST", path, { as, json: {} }));
    expect(line).toMatchObject({ status: 202, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
  });

  // The job of a deletion comes after those of other tests.
  it(
    "keeps shared files when its parent is deleted, and they are deleted with the last repository",
    { timeout: 150_000 },
    async () => {
      const { owner, repo, file } = await makeStored();
      const own = makeLargeFile(freshName("own"));
      const forker = await make.user();
      const fork = await forkOf(repo, forker);
      await upload(owner, repo, own);
      expect(await largeFilesOf(repo)).toHaveLength(2);

      await remove(repo, owner);
      await vi.waitFor(async () => expect(await largeFilesOf(repo)).toHaveLength(1), {
        timeout: 60_000,
      });
      expect((await fetchObject(fork, file.oid)).bytes).toEqual(file.bytes);
      await remove(fork, forker);
      await vi.waitFor(
        async () => expect([await largeFilesOf(repo), await looseOf(repo)]).toEqual([[], []]),
        { timeout: 60_000 },
      );
    },
  );

  it("of a fork keeps shared files too, and the schedule sweeps files after a deletion without a job", async () => {
    const { owner, repo, file } = await makeStored();
    const forker = await make.user();
    const last = await make.user();
    const fork = await forkOf(repo, forker);
    const grandchild = await forkOf({ ...repo, ...fork }, last);
    await remove(repo, owner);
    await remove(fork, forker);
    await removeLooseFiles(systemCtx({}, Date.now() + 10_000_000));
    expect((await fetchObject(grandchild, file.oid)).bytes).toEqual(file.bytes);
    await remove(grandchild, last);
    await removeLooseFiles(systemCtx({}, Date.now() + 10_000_000));
    expect([await largeFilesOf(repo), await looseOf(repo)]).toEqual([[], []]);
  });
});

describe("a repository with the name of a deleted one", () => {
  it("has none of the deleted repository's large files and locks", async () => {
    const { owner, repo, file } = await makeStored();
    const lock = await askLfs("POST", repo, "locks", { as: owner, json: { path: "a" } });
    await remove(repo, owner);
    await call("POST", "/user/repos", { as: owner, json: { name: repo.name } });
    expect((await fetchObject(repo, file.oid)).status).toBe(404);
    const { body } = await askBatch(repo, "download", [asPointer(file)]);
    expect(body.objects[0].error.code).toBe(404);
    const again = await askBatch(repo, "upload", [asPointer(file)], { as: owner });
    expect(again.body.objects[0].actions.upload).toBeDefined();
    expect((await askLfs("GET", repo, "locks", { as: owner })).body).toEqual({ locks: [] });
    const id = lock.body.lock.id as string;
    const unlocked = await askLfs("POST", repo, `locks/${id}/unlock`, {
      as: owner,
      json: { force: true },
    });
    expect(unlocked.status).toBe(404);
  });
});
