import { createMessageBatch, getQueueResult, createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { discardedObjects, lfsLooseFiles } from "../../src/db/schema/index.ts";
import { handleBatch, handleSchedule } from "../../src/jobs/index.ts";
import { largeFileKey } from "../../src/storage/keys.ts";
import { inForeground } from "../../src/lib/foreground.ts";
import type { StorageJob } from "../../src/storage/storage-job.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { git, placeOf, readAllObjects } from "../support/git.ts";
import { largeFilesOf, looseOf, makeLargeFile } from "../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../support/make.ts";
import { filesOf, makeCommit, push, storePush } from "../support/push.ts";
import { systemCtx } from "../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function makePushed(count: number): Promise<TestRepo> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  for (let at = 0; at < count; at++) {
    const { oid, pack } = makeCommit(freshName("text"));
    await push(owner, repo, oid, pack, `refs/heads/${at}`);
  }
  return repo;
}

const packsOf = async (repo: TestRepo) => (await git.repository(repo).snapshot()).packs;

const jobFor = ({ objectName, networkName }: TestRepo): StorageJob => ({
  kind: "maintain",
  objectName,
  networkName,
});

/** A batch of messages, as the queue delivers it. */
const batchOf = (jobs: StorageJob[]) =>
  createMessageBatch<StorageJob>(
    "edgeforge-storage",
    jobs.map((body, at) => ({ id: String(at), timestamp: new Date(), attempts: 1, body })),
  );

describe("a batch of storage jobs", () => {
  it("merges the packs of each repository; a repeated message changes nothing", async () => {
    const repos = [await makePushed(3), await makePushed(2)];
    const jobs = [...repos, ...repos].map(jobFor);
    await handleBatch(batchOf(jobs), () => systemCtx({}, Date.now()));
    for (const [at, repo] of repos.entries()) {
      expect(await packsOf(repo)).toHaveLength(1);
      expect(await readAllObjects(repo)).toBe(at === 0 ? 9 : 6);
    }
  });

  it("maintains each repository once, and acknowledges all messages about it", async () => {
    const repos = [await makePushed(2), await makePushed(2)];
    const batch = batchOf([...repos, ...repos, ...repos].map(jobFor));
    let opened = 0;
    await handleBatch(batch, () => {
      opened += 1;
      return systemCtx({}, Date.now());
    });
    expect(opened).toBe(2);
    for (const repo of repos) expect(await packsOf(repo)).toHaveLength(1);
    const { explicitAcks } = await getQueueResult(batch, createExecutionContext());
    expect(explicitAcks.toSorted()).toEqual(["0", "1", "2", "3", "4", "5"]);
  });

  it("lets a request under way come first, for a while", async () => {
    const repo = await makePushed(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = inForeground(() => promise);
    const handled = handleBatch(batchOf([jobFor(repo)]), () => systemCtx({}, Date.now()));
    await new Promise((done) => setTimeout(done, 100));
    expect(await packsOf(repo)).toHaveLength(2);
    resolve();
    await Promise.all([response, handled]);
    expect(await packsOf(repo)).toHaveLength(1);
  });

  it("is safe to handle concurrently", async () => {
    const repo = await makePushed(3);
    const jobs = [jobFor(repo)];
    await Promise.all(
      [1, 2, 3].map(() => handleBatch(batchOf(jobs), () => systemCtx({}, Date.now()))),
    );
    expect(await packsOf(repo)).toHaveLength(1);
    expect(await readAllObjects(repo)).toBe(9);
    await handleBatch(batchOf(jobs), () => systemCtx({}, Date.now() + 2 * DAY_MS));
    // One pack, its index and sidecar, and the refs.
    expect(await filesOf(repo)).toHaveLength(5);
  });

  it("retries only the failed message", async () => {
    const repos = [await makePushed(2), await makePushed(2)];
    const batch = batchOf(repos.map(jobFor));
    let opened = 0;
    await handleBatch(batch, () => {
      if (opened++ === 0) throw new Error("the database is away");
      return systemCtx({}, Date.now());
    });
    const result = await getQueueResult(batch, createExecutionContext());
    expect(result.explicitAcks).toEqual(["1"]);
    expect(result.retryMessages).toMatchObject([{ msgId: "0" }]);
    expect((await packsOf(repos[1] as TestRepo)).length).toBe(1);
    expect((await packsOf(repos[0] as TestRepo)).length).toBe(2);
  });

  it("is queued by the push that makes it due", async () => {
    const repo = await makePushed(4);
    await vi.waitFor(async () => expect(await packsOf(repo)).toHaveLength(1), { timeout: 15_000 });
  });
});

describe("a merge", () => {
  it("keeps the replaced packs for a day, for concurrent readers", async () => {
    const repo = await makePushed(3);
    const stored = git.repository(repo);
    const before = await stored.snapshot();
    await handleBatch(batchOf([jobFor(repo)]), () => systemCtx({}, Date.now()));
    const { objects } = await stored.open(before);
    for (const { oid } of before.refs) expect(await objects.readObject(oid)).toBeDefined();
    expect(await filesOf(repo)).toHaveLength(14);
    await handleBatch(batchOf([jobFor(repo)]), () => systemCtx({}, Date.now() + DAY_MS + 1000));
    expect(await filesOf(repo)).toHaveLength(5);
  });
});

describe("a merge during a push", () => {
  it("keeps the pushed pack behind the merged one", async () => {
    const repo = await makePushed(3);
    const { oid, pack } = makeCommit(freshName("meanwhile"));
    await Promise.all([
      handleBatch(batchOf([jobFor(repo)]), () => systemCtx({}, Date.now())),
      storePush(repo, "refs/heads/meanwhile", oid, pack),
    ]);
    const { refs, packs } = await git.repository(repo).snapshot();
    expect(refs).toHaveLength(4);
    expect(packs.length).toBeLessThanOrEqual(2);
    expect(await readAllObjects(repo)).toBe(12);
  });
});

describe("the removal of a deleted repository", () => {
  const deleteRepository = async (as: TestUser, repo: { owner: string; name: string }) =>
    expect((await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as })).status).toBe(204);

  it("deletes its own files, and keeps those of forks and neighbours", async () => {
    const owner = await make.user();
    const forker = await make.user();
    const repo = await make.repo(owner);
    const neighbour = await makePushed(1);
    const [shared, own] = [makeCommit("shared"), makeCommit("own")];
    await storePush(repo, "refs/heads/main", shared.oid, shared.pack);
    const path = `/repos/${repo.owner}/${repo.name}/forks`;
    const { body } = await call("POST", path, { as: forker, json: {} });
    const fork = await placeOf(body.id);
    await storePush(repo, "refs/heads/own", own.oid, own.pack);
    expect(await filesOf(repo)).toHaveLength(6);

    await deleteRepository(owner, repo);
    const job = batchOf([jobFor(repo)]);
    await handleBatch(job, () => systemCtx({}, Date.now()));
    expect(await filesOf(repo)).toHaveLength(3);
    expect(await readAllObjects(fork)).toBe(3);
    expect(await readAllObjects(neighbour)).toBe(3);

    await deleteRepository(forker, { owner: forker.name, name: body.name });
    const last = batchOf([{ kind: "maintain", ...fork }]);
    await handleBatch(last, () => systemCtx({}, Date.now()));
    expect(await filesOf(repo)).toEqual([]);
    expect(await readAllObjects(neighbour)).toBe(3);
  });

  it("is queued by the deletion", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("gone soon");
    await storePush(repo, "refs/heads/main", oid, pack);
    await deleteRepository(owner, repo);
    await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]), { timeout: 15_000 });
  });
});

describe("the schedule", () => {
  it("removes large files that uploads left a day ago", async () => {
    const repo = await makePushed(0);
    const { oid, bytes } = makeLargeFile(freshName("left"));
    const file = { networkName: repo.networkName, oid, uploadId: freshName("upload") };
    await env.PACKS.put(largeFileKey(file), bytes);
    await db.insert(lfsLooseFiles).values({ ...file, expiresAt: Date.now() - DAY_MS });
    await handleSchedule("*/10 * * * *", systemCtx({}, Date.now()));
    expect([await looseOf(repo), await largeFilesOf(repo)]).toEqual([[], []]);
  });

  it("requeues overdue removals of repositories, and no others", async () => {
    const now = Date.now();
    const [old, young] = [freshName("old"), freshName("young")];
    await db.insert(discardedObjects).values([
      { objectName: old, networkName: "n", discardedAt: now - 11 * 60_000 },
      { objectName: young, networkName: "n", discardedAt: now - 60_000 },
    ]);
    const sent: string[] = [];
    const queue = {
      send: async (job: StorageJob) => void sent.push(job.objectName),
    } as unknown as Env["STORAGE_JOBS"];
    await handleSchedule("*/10 * * * *", systemCtx({ STORAGE_JOBS: queue }, now));
    expect(sent).toContain(old);
    expect(sent).not.toContain(young);
    for (const name of [old, young]) {
      await db.delete(discardedObjects).where(eq(discardedObjects.objectName, name));
    }
  });
});
