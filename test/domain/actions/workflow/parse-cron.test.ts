import { describe, expect, it } from "vitest";

import { parseCron } from "../../../../src/domain/actions/workflow/parse-cron.ts";

/** The first time after a Wednesday. */
async function nextOf(text: string): Promise<string | undefined> {
  const next = (await parseCron(text)).next(Date.parse("2026-07-15T12:34:56Z"));
  return next === undefined ? undefined : new Date(next).toISOString();
}

describe("a schedule", () => {
  it.each([
    ["* * * * *", "2026-07-15T12:35:00.000Z"],
    ["*/15 * * * *", "2026-07-15T12:45:00.000Z"],
    ["0 5 * * 1-5", "2026-07-16T05:00:00.000Z"],
    ["0 5 * * MON", "2026-07-20T05:00:00.000Z"],
    ["0 0 1 jan *", "2027-01-01T00:00:00.000Z"],
    // Either day, as cron has it.
    ["0 0 20 * 4", "2026-07-16T00:00:00.000Z"],
    ["  0   0 * *  * ", "2026-07-16T00:00:00.000Z"],
    ["@daily", "2026-07-16T00:00:00.000Z"],
    ["@midnight", "2026-07-16T00:00:00.000Z"],
    ["@hourly", "2026-07-15T13:00:00.000Z"],
    ["@weekly", "2026-07-19T00:00:00.000Z"],
    ["TZ=Europe/Berlin 0 5 * * *", "2026-07-16T03:00:00.000Z"],
    ["CRON_TZ=Asia/Tokyo @daily", "2026-07-15T15:00:00.000Z"],
    ["0 0 30 2 *", undefined],
  ])("%s is next at %s", async (text, expected) => {
    expect(await nextOf(text)).toBe(expected);
  });

  it.each([
    "",
    "* * * *",
    "* * * * * *",
    "61 * * * *",
    "* 24 * * *",
    "* * * 13 *",
    "a b c d e",
    "@reboot",
    "@every 1h",
    "TZ=Nowhere/Town 0 0 * * *",
  ])("%j is refused", async (text) => {
    await expect(parseCron(text)).rejects.toMatchObject({ name: "WorkflowError" });
  });
});
