import { describe, expect, it } from "vitest";

import { findGrowingQueues, QUEUES, type QueueSample } from "../../../bench/soak/queues.ts";

/** An hour of samples; `length` gives the queue of deliveries at a share of the run. */
const samplesOf = (length: (share: number) => number): QueueSample[] =>
  Array.from({ length: 720 }, (_, at) => ({
    atMs: at * 5000,
    lengths: {
      ...(Object.fromEntries(QUEUES.map((queue) => [queue, 0])) as QueueSample["lengths"]),
      deliveries: length(at / 720),
    },
  }));

describe("findGrowingQueues", () => {
  it.each<[string, (share: number) => number]>([
    ["empty", () => 0],
    ["short", (share) => (share < 0.5 ? 0 : 15)],
    ["long and flat", () => 400],
    ["long for a while", (share) => (share > 0.5 && share < 0.7 ? 5000 : 3)],
  ])("accepts a queue that is %s", (_, length) => {
    expect(findGrowingQueues(samplesOf(length))).toEqual([]);
  });

  it.each<[string, (share: number) => number]>([
    ["grows slowly", (share) => 200 * share],
    ["grows in the end", (share) => (share < 0.8 ? 0 : 100)],
  ])("refuses a queue that %s", (_, length) => {
    expect(findGrowingQueues(samplesOf(length))).toEqual([
      expect.stringMatching(/^the queue of deliveries grew from \d+ to \d+$/),
    ]);
  });
});
