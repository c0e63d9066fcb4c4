import { describe, expect, it } from "vitest";

import {
  afterFailure,
  afterSuccess,
} from "../../../../src/domain/exchange/mirrors/next-attempt.ts";
import { RemoteFailure } from "../../../../src/outgoing/remote-failure.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = 1_800_000_000_000;
const RULES = { intervalSeconds: 600, isAlwaysRetried: false, pauseMs: 5 * DAY, random: 0 };
const WELL = { failureCount: 0, failingSince: null, syncedAt: NOW - 1000 };
const down = new RemoteFailure("unreachable", "the remote did not answer");

describe("afterSuccess", () => {
  it("is due after the interval, and knows of no failure", () => {
    expect(afterSuccess(600, NOW)).toEqual({
      state: "ok",
      failureCount: 0,
      failingSince: null,
      lastError: "",
      attemptedAt: NOW,
      syncedAt: NOW,
      dueAt: NOW + 10 * MINUTE,
      leasedUntil: 0,
    });
  });

  it("is not due again without an interval", () => {
    expect(afterSuccess(0, NOW).dueAt).toBeNull();
  });
});

describe("afterFailure", () => {
  it("doubles the wait with each failure, up to a day", () => {
    const waits = Array.from({ length: 14 }, (_, failureCount) => {
      const { dueAt } = afterFailure({ ...WELL, failureCount }, down, RULES, NOW);
      return ((dueAt ?? 0) - NOW) / MINUTE;
    });
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, ...Array(6).fill(1440)]);
  });

  it("waits no shorter than the interval", () => {
    const rules = { ...RULES, intervalSeconds: 8 * 3600 };
    expect(afterFailure(WELL, down, rules, NOW).dueAt).toBe(NOW + 8 * 60 * MINUTE);
  });

  it("spreads the attempts of many mirrors by a tenth", () => {
    expect(afterFailure(WELL, down, { ...RULES, random: 1 }, NOW).dueAt).toBe(NOW + 11 * MINUTE);
  });

  it("comes again when the remote says so, if that is later", () => {
    const limited = new RemoteFailure("rate_limited", "the rate limit is reached", NOW + DAY);
    expect(afterFailure(WELL, limited, RULES, NOW).dueAt).toBe(NOW + DAY);
    const soon = new RemoteFailure("rate_limited", "the rate limit is reached", NOW + 1);
    expect(afterFailure(WELL, soon, RULES, NOW).dueAt).toBe(NOW + 10 * MINUTE);
  });

  it("keeps the time of the first failure and of the last success", () => {
    const first = afterFailure(WELL, down, RULES, NOW);
    expect(first).toMatchObject({
      state: "failing",
      failureCount: 1,
      failingSince: NOW,
      lastError: "the remote did not answer",
      syncedAt: NOW - 1000,
    });
    const second = afterFailure(first, down, RULES, NOW + DAY);
    expect(second).toMatchObject({ failureCount: 2, failingSince: NOW, attemptedAt: NOW + DAY });
  });

  it("pauses after days of failure", () => {
    const before = { ...WELL, failureCount: 9, failingSince: NOW - 5 * DAY + 1 };
    expect(afterFailure(before, down, RULES, NOW).state).toBe("failing");
    expect(afterFailure(before, down, RULES, NOW + 1)).toMatchObject({
      state: "paused",
      dueAt: null,
    });
  });

  it("tries without an interval only if it follows each push", () => {
    const rules = { ...RULES, intervalSeconds: 0 };
    expect(afterFailure(WELL, down, rules, NOW).dueAt).toBeNull();
    const retried = afterFailure(WELL, down, { ...rules, isAlwaysRetried: true }, NOW);
    expect(retried.dueAt).toBe(NOW + 10 * MINUTE);
  });
});
