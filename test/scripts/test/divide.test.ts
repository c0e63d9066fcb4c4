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

  // Each of two processes works it out for itself.
  it("makes the same parts whatever the order", () => {
    expect(divide(["d", "c", "b", "a"], weights, 2)).toEqual(
      divide(["a", "b", "c", "d"], weights, 2),
    );
  });

  it("takes the median for what it does not know", () => {
    expect(divide(["a", "b", "c", "new", "newer"], weights, 2)).toEqual([
      ["a", "newer"],
      ["b", "new", "c"],
    ]);
  });

  it("makes parts of as many where nothing is known", () => {
    expect(divide(["a", "b", "c"], new Map(), 2)).toEqual([["a", "c"], ["b"]]);
  });
});
