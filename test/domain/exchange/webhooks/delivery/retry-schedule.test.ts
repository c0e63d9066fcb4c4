import { describe, expect, it } from "vitest";

import {
  backoffMs,
  hookBackoffMs,
  parseRetryAfter,
} from "../../../../../src/domain/exchange/webhooks/delivery/retry-schedule.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 0, 31, 8, 15);

describe("the delay between attempts", () => {
  it("is random below a bound that doubles to six hours, and at least five seconds", () => {
    const bounds = [1, 2, 3, 10, 11, 12, 1000].map((count) => backoffMs(count, 1));
    expect(bounds).toEqual([
      30_000,
      60_000,
      120_000,
      30_000 * 2 ** 9,
      6 * HOUR_MS,
      6 * HOUR_MS,
      6 * HOUR_MS,
    ]);
    expect(backoffMs(1, 0)).toBe(5000);
    expect(backoffMs(12, 0)).toBe(5000);
    expect(backoffMs(2, 0.5)).toBe(32_500);
  });

  it("is ten seconds for a hook without response, doubling to ten minutes", () => {
    expect([1, 2, 3, 6, 7, 100, 5000].map(hookBackoffMs)).toEqual([
      10_000, 20_000, 40_000, 320_000, 600_000, 600_000, 600_000,
    ]);
  });
});

describe("Retry-After", () => {
  it.each([
    ["120", 120_000],
    [" 1 ", 1000],
    ["43200", 12 * HOUR_MS],
    ["43201", 12 * HOUR_MS],
    ["999999999999999", 12 * HOUR_MS],
    ["Sat, 31 Jan 2026 08:16:00 GMT", 60_000],
    ["Sun, 31 Jan 2027 08:16:00 GMT", 12 * HOUR_MS],
  ])("%j is honoured up to twelve hours", (text, waitMs) => {
    expect(parseRetryAfter(text, NOW)).toBe(waitMs);
  });

  it.each([
    null,
    "",
    "0",
    "-1",
    "1.5",
    "1e3",
    "soon",
    "9".repeat(16),
    "Sat, 31 Jan 2026 08:15:00 GMT",
    "Sat, 31 Jan 2026 08:14:00 GMT",
    "Sat, 99 Foo 2026 99:99:99 GMT",
    "2026-01-31T09:00:00Z",
  ])("%j is ignored", (text) => {
    expect(parseRetryAfter(text, NOW)).toBeUndefined();
  });
});
