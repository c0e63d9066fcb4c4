import { describe, expect, it } from "vitest";

import { billOf, totalOf } from "../../../bench/scale/bill.ts";
import { type Inputs, readInputs } from "../../../bench/scale/inputs/read.ts";
import { parseOptions } from "../../../bench/scale/options.ts";
import { readFigures } from "../../../bench/scale/record-costs.ts";
import { PEAK } from "../../../bench/scale/result.ts";
import { simulate } from "../../../bench/scale/simulate.ts";
import { databaseBytes } from "../../../bench/scale/storage.ts";
import { readStep, stepsOfKinds } from "../../../bench/scale/steps.ts";
import { Totals } from "../../../bench/scale/totals.ts";
import { DAY_MS, rateAt, windowsOf } from "../../../bench/scale/traffic.ts";

/** A small forge, whose day takes a moment. */
function smallInputs(changes: Record<string, number> = {}): Inputs {
  const small = { repositories: 2000, users: 500, requestsPerDay: 2_000_000, ...changes };
  const inputs = readInputs(new Map(Object.entries(small)));
  return { ...inputs, workload: { ...inputs.workload, bursts: [] } };
}

const run = (inputs: Inputs, { hasReplicas = true, seed = 1, sampleMs = 20_000 } = {}) =>
  simulate(inputs, { hasReplicas, scale: 1, seed, sampleMs });

describe("a simulated day", () => {
  it("completes or refuses everything that arrives", () => {
    const { arrived, completed, refused } = run(smallInputs());
    expect(arrived).toBeGreaterThan(20_000);
    expect(refused).toBe(0);
    expect(completed).toBe(arrived);
  });

  it("refuses what a database can't take, and still loses no message", () => {
    const inputs = smallInputs({ requestsPerDay: 80_000_000, "d1.patienceMs": 300 });
    const options = { hasReplicas: false, sampleMs: 2000 };
    const { arrived, completed, refused, sentAgain } = run(inputs, options);
    expect(refused).toBeGreaterThan(0);
    expect(sentAgain).toBeGreaterThan(0);
    expect(completed + refused).toBe(arrived);
  });

  it("is the same for the same seed, and another for another", () => {
    const inputs = smallInputs();
    const [first, second, other] = [1, 1, 2].map((seed) => run(inputs, { seed, sampleMs: 2000 }));
    expect(first?.totals).toEqual(second?.totals);
    expect(first?.phases).toEqual(second?.phases);
    expect(other?.totals.d1Calls).not.toBe(first?.totals.d1Calls);
  });

  it("has totals that a sample finds as the whole day does", () => {
    const inputs = smallInputs({ requestsPerDay: 300_000 });
    const whole = run(inputs, { sampleMs: DAY_MS }).totals;
    const sampled = run(inputs, { sampleMs: 300_000 }).totals;
    expect(sampled.requests / whole.requests).toBeCloseTo(1, 1);
    expect(sampled.d1Calls / whole.d1Calls).toBeCloseTo(1, 1);
    expect(sampled.cpuMs / whole.cpuMs).toBeCloseTo(1, 1);
  });

  // Utilisation is the rate times the time of a call, whatever the queue does.
  it("keeps a database as busy as its calls take", () => {
    const inputs = smallInputs({ "d1.variation": 0, "kept.ms": 0 });
    const only = {
      ...inputs,
      workload: { ...inputs.workload, kinds: { user: { share: 1, megabytes: 0 } } },
    };
    const result = run(only, { hasReplicas: false });
    const { steps } = stepsOfKinds(only).get("user") ?? { steps: [] };
    const serviceMs = steps.reduce((sum, step) => sum + step.serviceMs, 0);
    const expected = rateAt(only, 1, 15 * 3_600_000) * serviceMs;
    const busiest = result.phases.get(PEAK)?.get("database, primary")?.busiest ?? 0;
    expect(busiest / expected).toBeCloseTo(1, 1);
  });

  it("takes reads from the primary where there are replicas", () => {
    const inputs = smallInputs();
    const busy = (hasReplicas: boolean) =>
      run(inputs, { hasReplicas }).phases.get(PEAK)?.get("database, primary")?.mean ?? 0;
    expect(busy(true)).toBeLessThan(busy(false));
  });

  it("makes a burst's window as busy as the burst, and a day's totals greater by it", () => {
    const inputs = readInputs(
      new Map(Object.entries({ repositories: 2000, users: 500, requestsPerDay: 20_000 })),
    );
    const burst = {
      name: "b",
      hour: 4,
      seconds: 5,
      perSecond: 20_000,
      kinds: { repository: 1 },
      target: "uniform",
    } as const;
    const some = { ...inputs, workload: { ...inputs.workload, bursts: [burst] } };
    const none = { ...inputs, workload: { ...inputs.workload, bursts: [] } };
    const [withBurst, without] = [run(some), run(none)];
    expect(withBurst.phases.has("b")).toBe(true);
    expect((withBurst.totals.requests - without.totals.requests) / 100_000).toBeCloseTo(1, 1);
  });
});

describe("what isolates keep", () => {
  const shares = (changes: Record<string, number>) => {
    const { kept, totals } = run(smallInputs(changes), { sampleMs: 2000 });
    return { guard: kept.guard / kept.requests, answer: kept.answer / kept.requests, totals };
  };

  it("is nothing for no time, and then all is asked for", () => {
    const [none, some] = [shares({ "kept.ms": 0 }), shares({})];
    expect(none).toMatchObject({ guard: 0, answer: 0 });
    // The second and the third request of a fetch ask nothing.
    expect(some.totals.d1Calls).toBeLessThan(0.95 * none.totals.d1Calls);
  });

  it("is most of what is read where all read one repository and few write", () => {
    const { guard, answer } = shares({ repositories: 1, "kept.isolateRequestsPerSecond": 1000 });
    expect(guard + answer).toBeGreaterThan(0.6);
    expect(answer).toBeGreaterThan(0.05);
  });

  it("ends with each write of the isolate", () => {
    const busy = { repositories: 1, "kept.isolateRequestsPerSecond": 1000 };
    const [few, many] = [shares(busy), shares({ ...busy, "kinds.comment.share": 0.5 })];
    expect(many.guard + many.answer).toBeLessThan(0.6 * (few.guard + few.answer));
  });
});

describe("the windows of a day", () => {
  it("cover the whole day once where nothing is sampled", () => {
    const windows = windowsOf(readInputs(), DAY_MS);
    let at = 0;
    for (const { fromMs, toMs } of windows) {
      expect(fromMs).toBe(at);
      at = toMs;
    }
    expect(at).toBe(DAY_MS);
  });

  it("stand for the whole day where they are samples", () => {
    const sum = windowsOf(readInputs(), 5000).reduce(
      (total, { fromMs, toMs, weight }) => total + weight * (toMs - fromMs),
      0,
    );
    expect(sum).toBeCloseTo(DAY_MS);
  });
});

describe("the size of the database", () => {
  const inputs = smallInputs();
  const none = { events: 0, dispatched: 0, deliveries: 0 };

  it("grows with users, repositories and what each day adds, as long as that is kept", () => {
    const size = databaseBytes(inputs, none);
    const more = (change: Record<string, number>) => databaseBytes(smallInputs(change), none);
    expect(more({ users: 1000 }) + more({ repositories: 4000 })).toBeCloseTo(
      size + more({ users: 1000, repositories: 4000 }),
    );
    const { events } = inputs.workload.stored;
    const days = events && "days" in events ? events.days : 0;
    expect(databaseBytes(inputs, { ...none, events: 10 }) - size).toBeCloseTo(
      10 * days * inputs.cost("bytes.events"),
    );
  });
});

describe("the bill", () => {
  const inputs = smallInputs();

  it("charges what is above the included part, by the million, for thirty days", () => {
    const totals = new Totals(inputs);
    totals.requests = 1_000_000;
    totals.rowsWritten = 2_000_000;
    const lines = new Map(billOf(inputs, totals, 0).map(({ name, dollars }) => [name, dollars]));
    expect(lines.get("workers.requests")).toBeCloseTo((30 - 10) * 0.3);
    expect(lines.get("d1.rowsWritten")).toBeCloseTo(60 - 50);
    expect(lines.get("workers.cpuMs")).toBe(0);
  });

  it("charges stored gigabytes, and sums its lines", () => {
    const lines = billOf(inputs, new Totals(inputs), 25e9);
    expect(lines.find(({ name }) => name === "d1.storage")?.dollars).toBeCloseTo(20 * 0.75);
    expect(totalOf(lines)).toBeCloseTo(lines.reduce((sum, { dollars }) => sum + dollars, 0));
  });
});

describe("inputs", () => {
  it("have a share of all requests for each kind, one in total", () => {
    const shares = Object.values(readInputs().workload.kinds).map(({ share }) => share);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  });

  it("are replaced by name, and unknown names are refused", () => {
    expect(readInputs(new Map([["d1.writeMs", 7]])).published("d1.writeMs")).toBe(7);
    expect(readInputs(new Map([["d1.networkMs", 7]])).workload.d1.networkMs).toBe(7);
    expect(() => readInputs(new Map([["d1.unknown", 7]]))).toThrow("d1.unknown");
    expect(() => parseOptions(["--set", "d1.writeMs"])).toThrow("name=number");
  });

  it("make a call take at least what an object's rate allows", () => {
    const inputs = smallInputs();
    expect(readStep(inputs, 0).serviceMs).toBe(1);
    expect(readStep(inputs, 1_000_000).serviceMs).toBeGreaterThan(100);
  });

  it("are read from the tables of other benchmarks", () => {
    const api = `
loaded

| case        | req/s | CPU ms | D1 calls | rows read |
| ----------- | ----: | -----: | -------: | --------: |
| user        |   200 |   4.25 |        1 |         6 |
| repository  |   100 |   5.50 |        1 |     1,008 |`;
    expect(readFigures(api)).toEqual({
      "user.cpuMs": { value: 4.25, unit: "ms/request", command: "npm run bench:api" },
      "user.d1Calls": { value: 1, unit: "calls/request", command: "npm run bench:api" },
      "user.rowsRead": { value: 6, unit: "rows/request", command: "npm run bench:api" },
      "repository.cpuMs": { value: 5.5, unit: "ms/request", command: "npm run bench:api" },
      "repository.d1Calls": { value: 1, unit: "calls/request", command: "npm run bench:api" },
      "repository.rowsRead": { value: 1008, unit: "rows/request", command: "npm run bench:api" },
    });
  });

  it("take the megabytes of a table that names its repository", () => {
    const table = (size: string) =>
      `${size}: 88,000 objects\n\n| case | wall s | CPU s | CPU s |\n| - | -: | -: | -: |\n| push | 9.0 | 8.19 | 1.0 |`;
    expect(readFigures(table("medium"))["push.cpuMsPerMb"]?.value).toBe(45);
    expect(() => readFigures(table("small"))).toThrow("none of the known figures");
  });

  it("are read from a measurement", () => {
    const figures = [{ name: "user.cpuMs", value: 1.23456, unit: "ms/request" }];
    expect(readFigures(JSON.stringify(figures))["user.cpuMs"]?.value).toBe(1.235);
  });
});
