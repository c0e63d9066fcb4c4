import { describe, expect, it } from "vitest";

import type { FileCache } from "../../src/storage/bucket.ts";
import { ResultCache, type ResultKey } from "../../src/storage/result-cache.ts";

/** A file cache for one test. */
function makeCache() {
  const files = new Map<string, Uint8Array>();
  const cache: FileCache = {
    get: (key) => Promise.resolve(files.get(key)),
    put: (key, bytes) => void files.set(key, bytes),
  };
  return { files, cache };
}

/** A computation that counts its calls. */
function makeWork<T>(result: T) {
  const work = () => {
    work.count++;
    return Promise.resolve(result);
  };
  work.count = 0;
  return work;
}

const objectName = () => crypto.randomUUID();

describe("a cached result", () => {
  it("is computed once for equal keys of the same repository", async () => {
    const { cache } = makeCache();
    const name = objectName();
    const result = { a: [1, null, "\u00ff\ud800"] };
    const work = makeWork(result);
    const keyParts: ResultKey = ["history", "src/ü", ["a".repeat(40)], null];
    for (let round = 0; round < 3; round++) {
      expect(await new ResultCache(cache, name).getOrCompute(keyParts, work)).toEqual(result);
    }
    expect(work.count).toBe(1);
    for (const other of [
      ["history", "src/ü", ["b".repeat(40)], null],
      ["history", "src/ü", ["a".repeat(40)], 0],
      ["history", ["src/ü"], ["a".repeat(40)], null],
    ] satisfies ResultKey[]) {
      await new ResultCache(cache, name).getOrCompute(other, work);
    }
    expect(work.count).toBe(4);
  });

  // SECURITY: forks share packs but not results.
  it("is not visible to another repository", async () => {
    const { cache } = makeCache();
    const [first, second] = [makeWork("first"), makeWork("second")];
    expect(await new ResultCache(cache, objectName()).getOrCompute(["x"], first)).toBe("first");
    expect(await new ResultCache(cache, objectName()).getOrCompute(["x"], second)).toBe("second");
    expect(second.count).toBe(1);
  });

  it("is read from the file cache after the isolate has evicted it", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const work = makeWork("kept");
    await results.getOrCompute(["x"], work);
    const long = makeWork("x".repeat(1024 * 1024 - 2));
    for (let other = 0; other < 3; other++) await results.getOrCompute(["y", other], long);
    expect(await results.getOrCompute(["x"], work)).toBe("kept");
    expect(work.count).toBe(1);
    // A result that neither cache has is computed again.
    for (let other = 3; other < 6; other++) await results.getOrCompute(["y", other], long);
    files.clear();
    expect(await results.getOrCompute(["x"], work)).toBe("kept");
    expect(work.count).toBe(2);
  });

  it("is not stored if it is too long", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const work = makeWork("x".repeat(1024 * 1024));
    for (let round = 0; round < 2; round++)
      expect(await results.getOrCompute(["x"], work)).toHaveLength(1024 * 1024);
    expect([work.count, files.size]).toEqual([2, 0]);
  });

  it("is not stored if the computation fails", async () => {
    const { files, cache } = makeCache();
    const results = new ResultCache(cache, objectName());
    const failing = () => Promise.reject(new Error("gone"));
    await expect(results.getOrCompute(["x"], failing)).rejects.toThrow("gone");
    expect(files.size).toBe(0);
    expect(await results.getOrCompute(["x"], makeWork("there"))).toBe("there");
  });
});
