import { describe, expect, it } from "vitest";

import { divide } from "../../../scripts/test/divide.ts";

const weights = new Map([
  ["a", 9],
  ["b", 5],
  ["c", 4],
  ["d", 1],
]);

describe("divide", () => {
  it("makes parts of about the same weight", () => {
    expect(divide(weights, 2)).toEqual([
      ["a", "d"],
      ["b", "c"],
    ]);
  });

  // Each of two processes computes the parts independently.
  it("makes the same parts in any order of the names", () => {
    expect(divide(new Map([...weights].toReversed()), 2)).toEqual(divide(weights, 2));
  });
});
