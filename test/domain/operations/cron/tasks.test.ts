import { describe, expect, it } from "vitest";

import wrangler from "../../../../wrangler.toml?raw";
import { nextTime } from "../../../../src/domain/operations/cron/next-time.ts";
import { CRON_TASKS } from "../../../../src/domain/operations/cron/tasks.ts";

describe("the tasks of the schedule", () => {
  it("have the cron triggers of wrangler.toml, and each trigger has tasks", () => {
    const triggers = JSON.parse(/^crons = (\[.*\])$/m.exec(wrangler)?.[1] ?? "[]");
    expect(new Set(CRON_TASKS.map(({ schedule }) => schedule))).toEqual(new Set(triggers));
  });

  it("have names of their own", () => {
    const names = CRON_TASKS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("the next time of a schedule", () => {
  it.each([
    ["* * * * *", "2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z"],
    ["* * * * *", "2026-01-31T08:15:00Z", "2026-01-31T08:16:00Z"],
    ["*/10 * * * *", "2026-01-31T08:15:30Z", "2026-01-31T08:20:00Z"],
    ["*/10 * * * *", "2026-12-31T23:50:00Z", "2027-01-01T00:00:00Z"],
    ["30 4 * * *", "2026-01-31T04:30:00Z", "2026-02-01T04:30:00Z"],
    ["0 */6 * * *", "2026-01-31T11:00:00Z", "2026-01-31T12:00:00Z"],
  ])("%s after %s is %s", (schedule, after, next) => {
    expect(nextTime(schedule, Date.parse(after))).toBe(Date.parse(next));
  });

  it.each(["* * 1 * *", "60 * * * *", "1-5 * * * *", ""])("refuses %s", (schedule) => {
    expect(() => nextTime(schedule, 0)).toThrow(/^(?:not a|never)/);
  });
});
