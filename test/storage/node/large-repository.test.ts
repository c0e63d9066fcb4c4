import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import type { StorageUsage } from "../../../src/storage/storage-usage.ts";
import { DiskBucket } from "../../support/disk-bucket.ts";
import { OBJECTS_EACH } from "../../support/large-repository.ts";
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

/** Memory and reads of a request do not grow with the objects of a repository, and little with its commits. */
function expectFlat([small, large]: readonly StorageUsage[], { mb, reads, rounds }: Bounds): void {
  if (!small || !large) throw new Error("nothing measured");
  if (process.env["EDGEFORGE_TEST_LARGE"]) console.log(small.counts(), large.counts());
  const moreCommits = COMMITS[1] - COMMITS[0];
  expect(large.bufferedBytesPeak).toBeLessThanOrEqual(
    small.bufferedBytesPeak + COMMIT_BYTES * moreCommits + MB,
  );
  expect(small.bufferedBytesPeak).toBeLessThanOrEqual(mb * MB);
  expect(large.r2Calls).toBeLessThanOrEqual(reads);
  expect(large.r2Rounds).toBeLessThanOrEqual(rounds);
}

interface Bounds {
  readonly mb: number;
  readonly reads: number;
  readonly rounds: number;
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
    expectFlat(usages, { mb: 6, reads: 40, rounds: 40 });
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
