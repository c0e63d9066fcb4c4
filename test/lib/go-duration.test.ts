import { describe, expect, it } from "vitest";

import { formatGoDuration, parseGoDuration } from "../../src/lib/go-duration.ts";

describe("parseGoDuration", () => {
  it.each([
    ["8h0m0s", 28_800],
    ["10m", 600],
    ["1.5h", 5400],
    [".5m", 30],
    ["1h1m1s", 3661],
    ["0", 0],
    ["0s", 0],
    ["-1h", -3600],
    ["+90s", 90],
    ["1500ms", 1],
    ["2562047h47m16s", 9_223_372_036],
  ])("reads %s", (text, seconds) => {
    expect(parseGoDuration(text)).toBe(seconds);
  });

  it.each(["", " 1h", "1", "soon", "1d", "h", "1h ", "1.2.3h", "--1h", "2562048h", "1e3s", ".h"])(
    "refuses %j",
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined();
    },
  );
});

describe("formatGoDuration", () => {
  it.each([
    [28_800, "8h0m0s"],
    [600, "10m0s"],
    [5, "5s"],
    [0, "0s"],
    [3661, "1h1m1s"],
  ])("writes %d seconds", (seconds, text) => {
    expect(formatGoDuration(seconds)).toBe(text);
    expect(parseGoDuration(text)).toBe(seconds);
  });
});
