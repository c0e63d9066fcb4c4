import { describe, expect, it } from "vitest";

import { LruCache } from "../../src/lib/lru-cache.ts";

describe("LruCache", () => {
  it("evicts the entries that were not used for the longest time", () => {
    const cache = new LruCache<string>(3000);
    for (const key of ["a", "b"]) cache.set(key, key, 1000);
    expect(cache.get("a")).toBe("a");
    cache.set("c", "c", 1000);
    expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual(["a", undefined, "c"]);
  });

  it("keeps no value over its bound, and counts a value once that is set again", () => {
    const cache = new LruCache<string>(3000);
    cache.set("large", "large", 3000);
    expect(cache.get("large")).toBeUndefined();
    for (let time = 0; time < 10; time++) cache.set("same", "same", 1000);
    expect(cache.heldBytes).toBeLessThan(1500);
  });

  // Otherwise a cache of megabytes holds gigabytes: a key and an entry cost more than most small
  // values.
  it("is bounded for values that count nothing, too", () => {
    const cache = new LruCache<string>(100_000);
    let kept = 0;
    for (let key = 0; key < 10_000; key++) cache.set(String(key), "", 0);
    for (let key = 0; key < 10_000; key++) if (cache.get(String(key)) !== undefined) kept++;
    expect(kept).toBeGreaterThan(100);
    expect(kept).toBeLessThan(1000);
  });
});
