import { describe, expect, it } from "vitest";

import { findOverruns, findUnknown, type Cost } from "../../../scripts/test/ledger.ts";

const cost = (d1Calls: number, d1CallsOfTest: number): Cost => ({
  cpuMs: 1,
  d1Calls,
  d1CallsOfTest,
});
const ledger = { "a.test.ts": cost(100, 20), "node.test.ts": { cpuMs: 1 } };

describe("findOverruns", () => {
  it("lets a file take a fifth and ten more", () => {
    expect(findOverruns(ledger, { "a.test.ts": cost(130, 34) })).toEqual([]);
  });

  it("names a file that takes more, and one of whose tests does", () => {
    expect(findOverruns(ledger, { "a.test.ts": cost(131, 35) })).toEqual([
      "a.test.ts took 131 calls of D1, 130 at most",
      "a test of a.test.ts took 35 calls of D1, 34 at most",
    ]);
  });

  // Time is no bound: it depends on the machine, and on who else uses it.
  it("has nothing to say of files without D1, however long they took", () => {
    const costs = { "node.test.ts": { cpuMs: 1e9 }, "other.test.ts": { cpuMs: 1e9 } };
    expect(findOverruns(ledger, costs)).toEqual([]);
  });
});

describe("findUnknown", () => {
  it("names a file in workerd that the ledger does not know", () => {
    const costs = { "a.test.ts": cost(1, 1), "new.test.ts": cost(0, 0), "b.test.ts": { cpuMs: 1 } };
    expect(findUnknown(ledger, costs)).toEqual(["new.test.ts"]);
  });
});
