import { expect, it } from "vitest";

import { Writes } from "../../../src/lib/writes.ts";
import { Kept, KEPT_MS } from "../../../src/storage/kept.ts";

const NOW = 1_000_000;

/** A result of a read at `NOW`. */
function keep({
  reads = "all",
  endsAt = Infinity,
}: { reads?: "all" | "quiet"; endsAt?: number } = {}) {
  const writes = new Writes();
  const kept = new Kept<string>(100_000, writes);
  kept.begin(NOW)("key", "value", { bytes: 1, reads, endsAt });
  return { writes, kept };
}

const write = (writes: Writes, scope: "all" | "quiet") =>
  writes.follow(scope, () => Promise.resolve());

it("ends after its time", () => {
  const { kept } = keep();
  expect(kept.get("key", NOW + KEPT_MS - 1)).toBe("value");
  expect(kept.get("key", NOW + KEPT_MS)).toBeUndefined();
  expect(kept.get("other", NOW)).toBeUndefined();
});

it("is not taken at a time before its read, as after a change of the clock", () => {
  expect(keep().kept.get("key", NOW - 1)).toBeUndefined();
});

it("ends of itself where it says so", () => {
  const { kept } = keep({ endsAt: NOW + 10 });
  expect(kept.get("key", NOW + 9)).toBe("value");
  expect(kept.get("key", NOW + 10)).toBeUndefined();
});

it.for([
  ["all", "all", undefined],
  ["quiet", "all", undefined],
  ["quiet", "quiet", undefined],
  ["all", "quiet", "value"],
] as const)("that has read %s, after a write of %s, is %s", async ([reads, scope, expected]) => {
  const { writes, kept } = keep({ reads });
  await write(writes, scope);
  expect(kept.get("key", NOW + 1)).toBe(expected);
});

it("is not kept where something was written while it was read", async () => {
  const { writes, kept } = keep();
  const store = kept.begin(NOW);
  await write(writes, "all");
  store("other", "old", { bytes: 1, reads: "all" });
  expect(kept.get("other", NOW)).toBeUndefined();
});

it("is neither kept nor taken while a write is under way, be it refused", async () => {
  const { writes, kept } = keep();
  const { promise, reject } = Promise.withResolvers<void>();
  const written = writes.follow("all", () => promise);
  expect(kept.get("key", Date.now())).toBeUndefined();
  kept.begin(Date.now())("early", "old", { bytes: 1, reads: "all" });
  reject(new Error("refused"));
  await expect(written).rejects.toThrow("refused");
  expect(kept.get("early", Date.now())).toBeUndefined();
  kept.begin(Date.now())("late", "new", { bytes: 1, reads: "all" });
  expect(kept.get("late", Date.now())).toBe("new");
});

it("is kept again a minute after a write whose request was cancelled", () => {
  const { writes, kept } = keep();
  void writes.follow("all", () => new Promise(() => undefined));
  const later = Date.now() + 60_000;
  kept.begin(later)("late", "new", { bytes: 1, reads: "all" });
  expect(kept.get("late", Date.now() + 30_000)).toBeUndefined();
});
