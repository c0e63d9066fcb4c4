import { expect, it } from "vitest";

import { formatDuration, formatEstimate } from "../../src/lib/duration.ts";

it.each([
  [0, "0 seconds"],
  [1, "1 second"],
  [30, "30 seconds"],
  [61, "1 minute"],
  [120, "2 minutes"],
  [3600, "1 hour"],
  [3665, "1 hour 1 minute"],
  [5400, "1 hour 30 minutes"],
  [360_000, "100 hours"],
])("words %i seconds: %s", (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words);
});

it.each([
  [0, ""],
  [45, "45s"],
  [5400, "1h 30m"],
  [7200, "2h"],
  [3661, "1h 1m 1s"],
])("words an estimate of %i seconds: %s", (seconds, words) => {
  expect(formatEstimate(seconds)).toBe(words);
});
