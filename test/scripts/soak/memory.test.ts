import { describe, expect, it } from "vitest";

import { findGrowth, type Sample } from "../../../bench/soak/memory.ts";
import { isFault } from "../../../bench/soak/service.ts";

const MB = 1024 * 1024;

/** Forty minutes of samples, or others; `residentMb` gives the memory at a share of the run. */
const samplesOf = (residentMb: (share: number) => number, minutes = 40): Sample[] =>
  Array.from({ length: 60 * minutes }, (_, at) => ({
    atMs: at * 1000,
    residentBytes: residentMb(at / (60 * minutes)) * MB,
  }));

describe("findGrowth", () => {
  it.each<[string, (share: number) => number]>([
    ["flat", () => 300],
    ["flat after the warm-up", (share) => Math.min(300, 100 + 800 * share)],
    ["flat with peaks", (share) => (Math.floor(share * 2400) % 7 === 0 ? 500 : 300)],
    ["9 % higher at the end", (share) => (share < 0.7 ? 300 : 327)],
    ["falling", (share) => 400 - 100 * share],
  ])("accepts memory that is %s", (_, residentMb) => {
    expect(findGrowth([samplesOf(residentMb)])).toEqual([]);
  });

  it.each<[string, (share: number) => number]>([
    ["rises slowly", (share) => 300 + 100 * share],
    ["is 12 % higher at the end", (share) => (share < 0.7 ? 300 : 336)],
    ["leaks from the start", (share) => 280 + 610 * share],
  ])("refuses memory that %s", (_, residentMb) => {
    expect(findGrowth([samplesOf(residentMb)])).toEqual([
      expect.stringMatching(/^memory grew by \d+ % after the warm-up$/),
    ]);
  });

  it("accepts lives of which a few grow", () => {
    const flat = samplesOf(() => 300);
    const grows = samplesOf((share) => 280 + 40 * share);
    expect(findGrowth([flat, grows, flat])).toEqual([]);
  });

  it("judges short lives by their ends", () => {
    const life = (mb: number) => samplesOf((share) => mb + 100 * share, 10);
    expect(findGrowth([life(280), life(285), life(290)])).toEqual([]);
    expect(findGrowth([life(280), life(300), life(330)])).toEqual([
      expect.stringMatching(/^memory grew by \d+ % from life to life$/),
    ]);
  });

  it("refuses lives that each begin with more", () => {
    const lives = [300, 320, 340].map((mb) => samplesOf(() => mb));
    expect(findGrowth(lives)).toEqual(["memory grew by 13 % from life to life"]);
  });
});

describe("isFault", () => {
  it.each([
    '{"event":"request:bug","id":"x"}',
    '{"event":"request","status":500}',
    '{"event":"request","status":503}',
    '{"event":"dispatch:given-up","eventId":1}',
  ])("counts %s", (line) => {
    expect(isFault(line)).toBe(true);
  });

  it.each([
    "built the Worker",
    '{"event":"request","status":404}',
    '{"event":"jobs","queue":"edgeforge-events"}',
    '{"event":"maintenance:merged"}',
  ])("passes over %s", (line) => {
    expect(isFault(line)).toBe(false);
  });
});
