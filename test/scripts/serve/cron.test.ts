import { describe, expect, it } from "vitest";

import { parseCron } from "../../../scripts/serve/cron.ts";

// 2026-11-22 is a Sunday.
describe("a trigger", () => {
  it.each([
    ["* * * * *", "2026-11-22T00:00Z", true],
    ["*/5 * * * *", "2026-11-22T10:15Z", true],
    ["*/5 * * * *", "2026-11-22T10:16Z", false],
    ["30 4 * * *", "2026-11-22T04:30Z", true],
    ["30 4 * * *", "2026-11-22T16:30Z", false],
    ["0,30 8-10 * * *", "2026-11-22T09:30Z", true],
    ["0 0 * * 1", "2026-11-22T00:00Z", true],
    ["0 0 * * SUN", "2026-11-22T00:00Z", true],
    ["0 0 * * mon-fri", "2026-11-22T00:00Z", false],
    ["0 0 1 JAN *", "2026-01-01T00:00Z", true],
    ["0 0 13 * 6", "2026-11-13T00:00Z", true],
    ["3/20 * * * *", "2026-11-22T00:43Z", true],
  ])("%s at %s is due: %s", (expression, at, isDue) => {
    expect(parseCron(expression)(new Date(at))).toBe(isDue);
  });
});

describe("parseCron", () => {
  // A trigger that never fires would remain unnoticed.
  it.each([
    "* * * *",
    "60 * * * *",
    "0 0 L * *",
    "0 0 * * 2#1",
    "*/0 * * * *",
    "9-5 * * * *",
    "a * * * *",
  ])("refuses %s", (expression) => {
    expect(() => parseCron(expression)).toThrow(`"${expression}" of wrangler.toml is invalid`);
  });
});
