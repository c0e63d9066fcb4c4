import { describe, expect, it } from "vitest";

import { cumulate, Draws, hash } from "../../../bench/scale/simulator/draws.ts";
import { EventHeap } from "../../../bench/scale/simulator/event-heap.ts";
import { Histogram } from "../../../bench/scale/simulator/histogram.ts";
import { Station } from "../../../bench/scale/simulator/station.ts";
import { Zipf } from "../../../bench/scale/simulator/zipf.ts";

const ARRIVALS = 400_000;

const newStation = (servers?: number, patienceMs?: number) =>
  new Station(servers, patienceMs, new Histogram());

/** Feeds a station with Poisson arrivals. @returns The mean wait in milliseconds. */
function meanWait(station: Station, perMs: number, serviceMs: (draws: Draws) => number): number {
  const draws = new Draws(7);
  let nowMs = 0;
  for (let arrival = 0; arrival < ARRIVALS; arrival++) {
    nowMs += draws.exponential(1 / perMs);
    station.serve(nowMs, serviceMs(draws));
  }
  return station.waits?.mean ?? Number.NaN;
}

describe("a station", () => {
  // M/M/1: rho / (mu - lambda).
  it.each([0.3, 0.6, 0.8])("waits as M/M/1 at a utilisation of %d", (rho) => {
    const waitMs = meanWait(newStation(), rho, (draws) => draws.exponential(1));
    expect(waitMs / (rho / (1 - rho))).toBeCloseTo(1, 1);
  });

  // M/D/1: half of it.
  it.each([0.3, 0.6, 0.8])("waits as M/D/1 at a utilisation of %d", (rho) => {
    const waitMs = meanWait(newStation(), rho, () => 1);
    expect(waitMs / (rho / (2 * (1 - rho)))).toBeCloseTo(1, 1);
  });

  // Pollaczek and Khinchine: between and beyond both by the variation of the service.
  it("waits as M/G/1 with log-normal service", () => {
    const [rho, variation] = [0.6, 1.2];
    const waitMs = meanWait(newStation(), rho, (draws) => draws.logNormal(1, variation));
    expect(waitMs / ((rho * (1 + variation ** 2)) / (2 * (1 - rho)))).toBeCloseTo(1, 1);
  });

  // Erlang's C formula for four servers.
  it("waits as M/M/c with several servers", () => {
    const [servers, offered] = [4, 3];
    const terms = [1, 3, 4.5, 4.5];
    const last = (offered ** servers / 24) * (servers / (servers - offered));
    const erlangC = last / (terms.reduce((sum, term) => sum + term, 0) + last);
    const waitMs = meanWait(newStation(servers), offered, (draws) => draws.exponential(1));
    expect(waitMs / (erlangC / (servers - offered))).toBeCloseTo(1, 1);
  });

  it("serves or refuses each arrival, and makes none wait longer than its patience", () => {
    const station = newStation(1, 20);
    meanWait(station, 1.5, () => 1);
    expect(station.served + station.refused).toBe(ARRIVALS);
    expect(station.refused / ARRIVALS).toBeCloseTo(1 / 3, 2);
    expect(station.waits?.max).toBeLessThanOrEqual(20);
    expect(station.busyMs).toBe(station.served);
  });

  it("lets what waits grow and shrink over a time that is not simulated", () => {
    const station = newStation();
    station.serve(0, 10);
    station.mark();
    station.skip(0, 100, 1.5);
    expect(station.serve(100, 1)).toBe(161);
    station.mark();
    // Part of what arrives in the time that is skipped.
    station.serve(150, 30);
    station.skip(100, 200, 0.5);
    expect(station.serve(200, 1)).toBe(212);
    station.mark();
    station.skip(200, 1000, 0.5);
    expect(station.serve(1000, 1)).toBe(1001);
  });
});

describe("events", () => {
  it("come in the order of their times, and of equal times as they were added", () => {
    const heap = new EventHeap();
    const draws = new Draws(3);
    const times = Array.from({ length: 5000 }, () => Math.floor(draws.uniform() * 500));
    for (const [at, time] of times.entries()) heap.push(time, at);
    const expected = times
      .map((time, at) => ({ time, at }))
      .toSorted((a, b) => a.time - b.time || a.at - b.at)
      .map(({ at }) => at);
    expect(Array.from({ length: times.length }, () => heap.pop())).toEqual(expected);
    expect(() => heap.pop()).toThrow("no event is left");
  });
});

describe("a histogram", () => {
  it("has quantiles within 5 %", () => {
    const histogram = new Histogram();
    for (let ms = 1; ms <= 10_000; ms++) histogram.note(ms);
    expect(histogram.quantile(0.5) / 5000).toBeCloseTo(1.025, 1);
    expect(histogram.quantile(0.99) / 9900).toBeCloseTo(1, 1);
    expect(histogram.mean).toBe(5000.5);
  });
});

describe("draws", () => {
  it("of Zipf have the probabilities of their ranks", () => {
    const draws = new Draws(5);
    const zipf = new Zipf(1000, 0.8);
    const counts = new Float64Array(1001);
    for (let draw = 0; draw < ARRIVALS; draw++) {
      const rank = zipf.draw(draws.uniform);
      counts[rank] = (counts[rank] ?? 0) + 1;
    }
    for (const rank of [1, 2, 10, 100])
      expect((counts[rank] ?? 0) / ARRIVALS / zipf.shareOf(rank), `rank ${rank}`).toBeCloseTo(1, 1);
    expect(counts[0]).toBe(0);
  });

  it("of Zipf sum to one over ten million ranks", () => {
    const zipf = new Zipf(10_000_000, 0.8);
    let sum = 0;
    for (let rank = 1; rank <= zipf.count; rank++) sum += zipf.shareOf(rank);
    expect(sum).toBeCloseTo(1, 4);
  });

  it("are the same for the same seed, and others for another", () => {
    const three = (seed: number) => {
      const draws = new Draws(seed);
      return [draws.uniform(), draws.exponential(1), draws.logNormal(1, 1)];
    };
    expect(three(1)).toEqual(three(1));
    expect(three(1)).not.toEqual(three(2));
  });

  it("choose by weight", () => {
    const draws = new Draws(1);
    const counts = [0, 0, 0];
    const cumulative = cumulate([1, 0, 3]);
    for (let draw = 0; draw < 40_000; draw++) {
      const at = draws.weighted(cumulative);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    expect(counts[1]).toBe(0);
    expect((counts[2] ?? 0) / 40_000).toBeCloseTo(0.75, 2);
  });

  it("hash consecutive numbers evenly", () => {
    const counts = new Float64Array(16);
    for (let id = 0; id < 160_000; id++) counts[hash(id) % 16] = (counts[hash(id) % 16] ?? 0) + 1;
    for (const count of counts) expect(count / 10_000).toBeCloseTo(1, 1);
  });
});
