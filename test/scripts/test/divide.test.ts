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
    expect(divide(["a", "b", "c", "d"], weights, 2)).toEqual([
      ["a", "d"],
      ["b", "c"],
    ]);
  });

  // Each of two processes computes the parts independently.
  it("makes the same parts in any order of the names", () => {
    expect(divide(["d", "c", "b", "a"], weights, 2)).toEqual(
      divide(["a", "b", "c", "d"], weights, 2),
    );
  });

  it("uses the median for names of unknown weight", () => {
    expect(divide(["a", "b", "c", "new", "newer"], weights, 2)).toEqual([
      ["a", "newer"],
      ["b", "new", "c"],
    ]);
  });

  it("makes parts of equal size if no weight is known", () => {
    expect(divide(["a", "b", "c"], new Map(), 2)).toEqual([["a", "c"], ["b"]]);
  });
});
