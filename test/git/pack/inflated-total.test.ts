import { describe, expect, it } from "vitest";

import { runNow } from "../../../src/git/budget.ts";
import { GitError } from "../../../src/git/error.ts";
import { resolveDeltas } from "../../../src/git/pack/delta-resolver.ts";
import { InflatedTotal } from "../../../src/git/pack/inflated-total.ts";
import { DEFAULT_PACK_LIMITS, type PackLimits } from "../../../src/git/pack/limits.ts";
import { PackScanner } from "../../../src/git/pack/pack-scanner.ts";
import { makeRepeatingPack } from "../support/repeating-packs.ts";
import { codec } from "../support/codec.ts";
import { openKernel } from "../support/kernel.ts";
import { outsideOf } from "../support/outside.ts";
import { scan } from "../support/packs.ts";
import { MemoryScratch, MemorySource } from "../support/sources.ts";

const withLimits = (limits: Partial<PackLimits>) => ({ ...DEFAULT_PACK_LIMITS, ...limits });

const overBound = (maxBytes: number) =>
  expect.objectContaining({
    code: "limit",
    message: `the pack's objects have more than ${maxBytes} bytes together: a pack of its size may have no more`,
  });

describe.each([
  ["the engine", undefined],
  ["the kernel", openKernel()],
])("the objects of a pack read by %s", (_, kernel) => {
  const { pack, inflatedBytes, lastOffset } = makeRepeatingPack(1000, 20);

  it.each([
    ["absolute bound", (max: number) => ({ inflatedBytesMax: max })],
    [
      "bound of a pack of any size",
      (max: number) => ({ inflatedBytesFree: max, inflatedRatioMax: 0 }),
    ],
    [
      "bound of a pack of its size",
      (max: number) => ({ inflatedBytesFree: max - 5 * lastOffset, inflatedRatioMax: 5 }),
    ],
  ])("may have the %s together, with the deltas, and no byte more", (_bound, limit) => {
    const exact = withLimits(limit(inflatedBytes));
    expect(scan(pack, 100, exact, kernel).table.count).toBe(21);
    const less = withLimits(limit(inflatedBytes - 1));
    expect(() => scan(pack, 100, less, kernel)).toThrow(overBound(inflatedBytes - 1));
  });

  // Sizes are announced in front of the bytes, so that a bomb is refused before the rest of it
  // arrives.
  it("are refused at the entry that passes the bound", () => {
    const scanner = new PackScanner(
      codec,
      withLimits({ inflatedBytesMax: 3000 }),
      () => {},
      kernel,
    );
    let at = 0;
    const push = () => {
      for (; at < pack.length; at += 10) runNow(scanner.push(pack.subarray(at, at + 10)));
    };
    expect(push).toThrow(overBound(3000));
    expect(scanner.table.count).toBe(3);
    expect(at).toBeLessThan(1200);
  });
});

it.each([
  ["the objects of Linux", 400e9, 5e9],
  ["10,000 versions of a file of 1 MB that grows at its end", 10e9, 8.5e6],
  ["20 files of 100 MB of zeros", 2e9, 1.9e6],
])("by default, %s are no exception", (_, bytes, packBytes) => {
  expect(() => new InflatedTotal(DEFAULT_PACK_LIMITS).add(bytes, packBytes)).not.toThrow();
});

it("by default, a file of 16 MB 1800 times in 78 KB is refused", () => {
  expect(() => new InflatedTotal(DEFAULT_PACK_LIMITS).add(29e9, 78_000)).toThrow(GitError);
});

// A delta of some bytes that needs a base of megabytes which was spilled makes next to nothing.
it("counts bases that are read again from scratch", async () => {
  const { pack, inflatedBytes } = makeRepeatingPack(10_000, 30);
  const resolve = async (limits: PackLimits) => {
    const scanned = scan(pack, pack.length, limits);
    return resolveDeltas(scanned.table, {
      source: new MemorySource(pack),
      codec,
      limits,
      inflated: scanned.inflated,
      scratch: new MemoryScratch(),
      budgetBytes: 1,
      bases: outsideOf({ readObject: () => Promise.resolve(undefined) }),
      listen: () => {},
    });
  };
  await expect(resolve(DEFAULT_PACK_LIMITS)).resolves.toMatchObject({ externalOids: [] });
  const exact = withLimits({ inflatedBytesMax: inflatedBytes });
  await expect(resolve(exact)).rejects.toThrow(overBound(inflatedBytes));
});
