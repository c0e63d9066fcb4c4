import { expect, it } from "vitest";

import { activeMs } from "../../../scripts/check/active-time.ts";

it("counts all samples except idle ones, including garbage collection and native code", () => {
  const nodes = ["(root)", "(idle)", "(garbage collector)", "(program)", "load"].map(
    (functionName, id) => ({ id, callFrame: { functionName } }),
  );
  const profile = {
    nodes,
    samples: [4, 1, 2, 3, 1, 4],
    timeDeltas: [1000, 9000, 200, 300, 9000, 500],
  };

  expect(activeMs(profile)).toBe(2);
});
