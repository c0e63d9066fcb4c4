import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { type MadeFiles, makeFiles, type TestFile } from "../../support/files.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { push } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const DEEP = "a/b/c/d/file.txt";
/** Names in the path, including the file's. */
const DEPTH = 5;

/** Incompressible bytes. */
function makeNoise(): Uint8Array {
  const bytes = new Uint8Array(5 * 65_536);
  for (let at = 0; at < bytes.length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  }
  return bytes;
}

/**
 * A repository that has never been read, so that nothing of it is cached: writes fill no cache.
 * Each directory is stored in a different block of the pack.
 */
async function makeCold(): Promise<{ repo: TestRepo; made: MadeFiles }> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const files: Record<string, TestFile> = {};
  files[DEEP] = "deep\n";
  // In this order, each file is written between two directories.
  for (const above of ["a/b/c/d/", "a/b/c/", "a/b/", "a/", ""]) files[`${above}zz`] = makeNoise();
  const made = makeFiles(files);
  expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
  return { repo, made };
}

describe("the storage calls of a content read", () => {
  it.each([
    ["raw", (oid: string) => `raw/${DEEP}?ref=${oid}`],
    ["raw, on the default branch", () => `raw/${DEEP}`],
    ["contents", (oid: string) => `contents/${DEEP}?ref=${oid}`],
    ["contents-ext", () => `contents-ext/${DEEP}?includes=file_content`],
  ])("stay within the budget, uncached and cached: %s", async (_, rest) => {
    const { repo, made } = await makeCold();
    const path = `/repos/${repo.owner}/${repo.name}/${rest(made.oid)}`;
    const cold = await logged(() => call("GET", path));
    expect(cold.answer.status).toBe(200);
    // The index and the sidecar of the pack, then each directory in turn, then the file.
    expect(cold.line).toMatchObject({
      objectCalls: 1,
      r2Calls: 2 + 1 + DEPTH,
      r2Rounds: 2 + DEPTH,
    });
    expect(cold.line.d1Rounds).toBeLessThanOrEqual(2);

    const warm = await logged(() => call("GET", path));
    expect(warm.answer.body).toEqual(cold.answer.body);
    expect(warm.line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(warm.line.d1Rounds).toBeLessThanOrEqual(2);

    // A conditional request neither sends nor reads the content again.
    const headers = { "If-None-Match": warm.answer.headers.get("ETag") ?? "" };
    const notModified = await logged(() => call("GET", path, { headers }));
    expect(notModified.answer.status).toBe(304);
    expect(notModified.line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
  });

  it("are one Durable Object call and no further round trip for cached results", async () => {
    const { repo } = await makeCold();
    const rests = [
      `commits?path=${DEEP}`,
      "commits",
      "contents/a/b",
      "git/trees/main?recursive=1",
      "compare/main...main",
    ];
    for (const rest of rests) {
      const path = `/repos/${repo.owner}/${repo.name}/${rest}`;
      const first = await call("GET", path);
      const { answer, line } = await logged(() => call("GET", path));
      expect([rest, answer.body]).toEqual([rest, first.body]);
      expect([rest, line]).toMatchObject([rest, { objectCalls: 1, r2Calls: 0 }]);
      expect(line.d1Rounds).toBeLessThanOrEqual(2);
    }
  });
});
