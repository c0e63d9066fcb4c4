import { describe, expect, it } from "vitest";

import { ExpiringMap } from "../../src/lib/expiring-map.ts";

describe("ExpiringMap", () => {
  it("forgets an entry at its time", () => {
    const map = new ExpiringMap<string>(10);
    map.set("a", "value", 100);
    expect([map.get("a", 99), map.expiryOf("a", 99)]).toEqual(["value", 100]);
    expect([map.get("a", 100), map.expiryOf("a", 100)]).toEqual([undefined, undefined]);
  });

  it("holds no more entries than its bound: the oldest go", () => {
    const map = new ExpiringMap<number>(2);
    for (const at of [1, 2, 1, 3]) map.set(String(at), at, 100);
    expect(["1", "2", "3"].map((key) => map.get(key, 0))).toEqual([1, undefined, 3]);
  });
});
