import { expect, it } from "vitest";

import { formatDuration } from "../../src/lib/duration.ts";

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
