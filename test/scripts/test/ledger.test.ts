import { describe, expect, it } from "vitest";

import {
  findOverruns,
  findUnknown,
  recordedCosts,
  type Cost,
} from "../../../scripts/test/ledger.ts";

const cost = (d1Calls: number, d1CallsOfTest: number): Cost => ({
  cpuMs: 1,
  d1Calls,
  d1CallsOfTest,
});
const ledger = { "a.test.ts": cost(100, 20), "node.test.ts": { cpuMs: 1 } };

describe("findOverruns", () => {
  it("allows a file a quarter and fifty more calls", () => {
    expect(findOverruns(ledger, { "a.test.ts": cost(175, 75) })).toEqual([]);
  });

  it("reports a file above its limit, and a file with a test above its limit", () => {
    expect(findOverruns(ledger, { "a.test.ts": cost(176, 76) })).toEqual([
      { file: "a.test.ts", message: "a.test.ts made 176 D1 calls, the limit is 175" },
      {
        file: "a.test.ts",
        message: "a test of a.test.ts made 76 D1 calls, the limit is 75",
      },
    ]);
  });

  // Time is not bounded: it depends on the machine and its load.
  it("reports nothing for files without D1, regardless of their CPU time", () => {
    const costs = { "node.test.ts": { cpuMs: 1e9 }, "other.test.ts": { cpuMs: 1e9 } };
    expect(findOverruns(ledger, costs)).toEqual([]);
  });
});

describe("findUnknown", () => {
  it("reports a file in workerd that is missing in the ledger", () => {
    const costs = { "a.test.ts": cost(1, 1), "new.test.ts": cost(0, 0), "b.test.ts": { cpuMs: 1 } };
    expect(findUnknown(ledger, costs)).toEqual(["new.test.ts"]);
  });
});

describe("recordedCosts", () => {
  const costs = { "a.test.ts": cost(50, 10), "new.test.ts": cost(5, 1) };

  it("takes over the costs of a run, and keeps those of files that it did not have", () => {
    const run = { costs, failedFiles: [] };
    expect(recordedCosts(ledger, run, false)).toEqual({ ...ledger, ...costs });
    expect(recordedCosts(ledger, run, true)).toEqual(costs);
  });

  it("keeps what is known of a file that failed", () => {
    const run = { costs, failedFiles: ["a.test.ts", "new.test.ts"] };
    expect(recordedCosts(ledger, run, true)).toEqual({
      "a.test.ts": cost(100, 20),
      "new.test.ts": cost(5, 1),
    });
  });
});
