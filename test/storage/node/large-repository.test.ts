import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import type { StorageUsage } from "../../../src/storage/storage-usage.ts";
import { DiskBucket } from "../../support/disk-bucket.ts";
import { DIRECTORIES, FILES_EACH, OBJECTS_EACH } from "../../support/large-repository.ts";
import {
  compareCommits,
  joinRepositories,
  checkMergeability,
  listHistory,
  listRoot,
  readRaw,
  writeFile,
} from "../../support/large-reads.ts";
import {
  expectedContent,
  fetchCommit,
  type LargeRepository,
  listRefs,
  makeLargeRepository,
  makeThinPack,
  openRequest,
  pushCommit,
  readFile,
} from "../../support/large-requests.ts";

/** Commits of 25 objects each: 105,000 and 315,000 objects. */
const COMMITS = [4200, 12_600] as const;
/** What is held for each commit: the tables of history and of the graph. */
const COMMIT_BYTES = 100;
const MB = 1024 * 1024;
const TIMEOUT_MS = 240_000;

const disk = await DiskBucket.make();
const directory = await mkdtemp(join(tmpdir(), "edgeforge-large-"));
afterAll(async () => {
  await disk.remove();
  await rm(directory, { recursive: true, force: true });
});

const repositories: LargeRepository[] = [];
for (const count of COMMITS) repositories.push(await makeLargeRepository(disk, directory, count));

/** What a request of each repository costs. */
async function measure(
  work: (
    repository: LargeRepository,
    request: Awaited<ReturnType<typeof openRequest>>,
  ) => Promise<void>,
): Promise<StorageUsage[]> {
  const usages: StorageUsage[] = [];
  for (const repository of repositories) {
    const request = await openRequest(repository, "blocks");
    await work(repository, request);
    usages.push(request.usage);
  }
  return usages;
}

/**
 * Memory and reads of a request do not grow with the objects of a repository, and little with its
 * commits.
 */
function expectFlat(
  [small, large]: readonly StorageUsage[],
  { mb, reads, rounds, moreMb = 1 }: Bounds,
): void {
  if (!small || !large) throw new Error("nothing measured");
  if (process.env["EDGEFORGE_TEST_LARGE"]) console.log(small.counts(), large.counts());
  const moreCommits = COMMITS[1] - COMMITS[0];
  expect(large.bufferedBytesPeak).toBeLessThanOrEqual(
    small.bufferedBytesPeak + COMMIT_BYTES * moreCommits + moreMb * MB,
  );
  expect(small.bufferedBytesPeak).toBeLessThanOrEqual(mb * MB);
  expect(large.r2Calls).toBeLessThanOrEqual(reads);
  expect(large.r2Rounds).toBeLessThanOrEqual(rounds);
}

interface Bounds {
  readonly mb: number;
  readonly reads: number;
  readonly rounds: number;
  /**
   * What the larger repository may hold more than its commits take: its objects are in more blocks.
   */
  readonly moreMb?: number;
}

describe("a repository whose tables are read by block", { timeout: TIMEOUT_MS }, () => {
  it("lists its refs without a read", async () => {
    const usages = await measure(async (_, request) => {
      expect(await listRefs(request)).toBe(1);
    });
    for (const { r2Calls, bufferedBytesPeak } of usages) {
      expect({ r2Calls, bufferedBytesPeak }).toEqual({ r2Calls: 0, bufferedBytesPeak: 0 });
    }
  });

  it("serves a fetch of one commit", async () => {
    const usages = await measure(async (repository, request) => {
      const { objects } = await fetchCommit(request, repository);
      expect(objects).toBe(OBJECTS_EACH);
    });
    expectFlat(usages, { mb: 6, reads: 10, rounds: 8 });
  });

  it("reads a file with its last commit", async () => {
    const usages = await measure(async ({ commitCount }, request) => {
      expect(await readFile(request)).toBe(expectedContent(commitCount));
    });
    expectFlat(usages, { mb: 6, reads: 6, rounds: 6 });
  });

  it("reads a raw file", async () => {
    const usages = await measure(async ({ commitCount }, request) => {
      const expected = Buffer.from(expectedContent(commitCount), "base64").toString();
      expect(await readRaw(request)).toBe(expected);
    });
    expectFlat(usages, { mb: 6, reads: 6, rounds: 6 });
  });

  it("writes a file", async () => {
    const usages = await measure(async (repository, request) => {
      // The commit, its trees and the file.
      expect(await writeFile(request, repository, `write-${repository.commitCount}`)).toBe(4);
    });
    expectFlat(usages, { mb: 8, reads: 40, rounds: 30 });
  });

  it("lists the latest commits", async () => {
    const usages = await measure(async ({ commitCount }, request) => {
      expect(await listHistory(request)).toEqual({ read: 30, total: commitCount });
    });
    expectFlat(usages, { mb: 6, reads: 80, rounds: 80 });
  });

  it("compares two commits, and formats their diff", async () => {
    const files = 8 * FILES_EACH;
    const usages = await measure(async (repository, request) => {
      expect(await compareCommits(request, repository)).toEqual({ files, patches: files });
    });
    expectFlat(usages, { mb: 16, reads: 150, rounds: 150, moreMb: 10 });
  });

  it("checks the mergeability of a pull request", async () => {
    const usages = await measure(async (repository, request) => {
      const result = { mergeState: "mergeable", changedFiles: 8 * FILES_EACH };
      expect(await checkMergeability(request, repository)).toEqual(result);
    });
    expectFlat(usages, { mb: 16, reads: 150, rounds: 150, moreMb: 10 });
  });

  it("lists a tree", async () => {
    const usages = await measure(async (_, request) => {
      expect(await listRoot(request)).toBe(DIRECTORIES);
    });
    expectFlat(usages, { mb: 6, reads: 40, rounds: 20 });
  });

  it("is joined with another one, and reads what it had", async () => {
    const [other, own] = repositories as [LargeRepository, LargeRepository];
    const joining = await openRequest(own, "blocks");
    // All of the other one's objects are copies.
    const joined = await joinRepositories(joining, own, other);
    expect(joined.pack.objectCount).toBe(own.pack.objectCount);
    expect(joining.usage.bufferedBytesPeak).toBeLessThan(64 * MB);
    const apart = await makeLargeRepository(disk, directory, 500, 1_000_000);
    const both = await joinRepositories(await openRequest(own, "blocks"), apart, {
      ...own,
      pack: joined.pack,
    });
    // The empty tree is the only one of both.
    expect(both.pack.objectCount).toBe(own.pack.objectCount + apart.pack.objectCount - 1);
    const expected = Buffer.from(expectedContent(own.commitCount), "base64").toString();
    for (const mode of ["blocks", "whole"] as const) {
      const request = await openRequest(both, mode);
      expect(await readRaw(request)).toBe(expected);
      expect((await fetchCommit(request, both)).objects).toBe(OBJECTS_EACH);
      expect(await listHistory(request)).toEqual({ read: 30, total: own.commitCount });
    }
  });

  it("takes a push of one commit", async () => {
    const usages = await measure(async (repository, request) => {
      const pack = await makeThinPack(repository);
      // The commit, its trees and the file; and the two trees that are bases.
      expect(await pushCommit(request, pack)).toBe(6);
    });
    expectFlat(usages, { mb: 8, reads: 40, rounds: 30 });
  });
});
