import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { Refusal } from "../../../scripts/refusal.ts";

const Published = z.record(
  z.string(),
  z.strictObject({
    value: z.number(),
    unit: z.string(),
    /** The page that states it, without the scheme. */
    page: z.string(),
    readAt: z.iso.date(),
    note: z.string().optional(),
  }),
);

const Costs = z.record(
  z.string(),
  z.strictObject({
    value: z.number().nonnegative(),
    unit: z.string(),
    /** The command that prints it. */
    command: z.string(),
  }),
);
export type Costs = z.infer<typeof Costs>;

const count = z.number().nonnegative();
const Kind = z.strictObject({
  /** Of all requests. */
  share: z.number().min(0).max(1),
  /** Sent or received, on average. */
  megabytes: count.default(0),
});
const Burst = z.strictObject({
  name: z.string(),
  hour: z.number().min(0).max(23),
  seconds: z.number().positive(),
  perSecond: z.number().positive(),
  kinds: z.record(z.string(), count),
  target: z.enum(["hot", "uniform", "popular", "monorepo"]),
  hooksPerEvent: count.optional(),
});
export type Burst = z.infer<typeof Burst>;

const Stored = z.record(
  z.string(),
  z.union([
    z.strictObject({ perUser: count }),
    z.strictObject({ perRepository: count }),
    z.strictObject({ perDay: z.enum(["events", "dispatched", "deliveries"]), days: count }),
  ]),
);

const Workload = z.strictObject({
  about: z.string(),
  repositories: z.int().positive(),
  users: z.int().positive(),
  requestsPerDay: z.number().positive(),
  /** The load is a cosine around its mean. */
  diurnal: z.strictObject({ peakHour: count, peakToMean: z.number().min(1).max(2) }),
  /** The exponent of Zipf's law for repositories. */
  popularity: count,
  /** Shares of the requests by region; the first has the primary database. */
  regions: z.array(count).nonempty(),
  kinds: z.record(z.string(), Kind),
  /** The standard deviation of sizes, divided by their mean. */
  sizeVariation: count,
  /** Its share of the requests of these kinds. */
  monorepo: z.strictObject({ share: count, kinds: z.array(z.string()) }),
  /** What isolates keep of guards and of answers. */
  kept: z.strictObject({
    /** For how long; 0 for not at all. */
    ms: count,
    /** Requests that an isolate answers in a second, where there are more of them. */
    isolateRequestsPerSecond: z.number().positive(),
    /** Callers with a token who read a repository at the same time. */
    callersPerRepository: z.number().positive(),
    /**
     * Requests that a caller makes of a repository within the time, by one isolate; 1 where they
     * come independently of one another, as in all else that is simulated.
     */
    visitRequests: z.number().min(1),
    /** The share of anonymous readers, by kind. */
    anonymous: z.record(z.string(), z.number().min(0).max(1)),
    /** Different answers about a repository, by kinds whose answers are kept. */
    answers: z.record(z.string(), z.number().positive()),
  }),
  /** Deliveries of an event, on average. */
  hooksPerEvent: count,
  receiverMs: count,
  /** D1 calls of the schedule. */
  cronCallsPerMinute: count,
  /** D1 calls of jobs that write. */
  jobWriteShare: count,
  /** `patienceMs`: the wait after which a database answers that it is overloaded. */
  d1: z.strictObject({
    variation: count,
    statementsPerCall: count,
    patienceMs: count,
    networkMs: count,
  }),
  objects: z.strictObject({
    variation: count,
    patienceMs: count,
    networkMs: count,
    /** Billed time of a call. */
    activeMs: count,
    rowsReadPerCall: count,
    rowsWrittenPerPush: count,
  }),
  r2: z.strictObject({
    latencyMs: count,
    /** How long a data center keeps blocks of packs. */
    cacheSeconds: count,
    packsPerRepository: count,
    /** Reads of a request whose blocks are not in the cache, by kind. */
    coldReads: z.record(z.string(), count),
    writesPerPush: count,
  }),
  bursts: z.array(Burst),
  /** Rows by table. */
  stored: Stored,
  bytes: z.strictObject({
    packsPerRepository: count,
    objectPerRepository: count,
    packagesPerUser: count,
  }),
});
type Workload = z.infer<typeof Workload>;

/** Everything that a simulation starts from. */
export type Inputs = {
  workload: Workload;
  /** A published limit or price. @throws Refusal if inputs/platform.json has none of that name. */
  published: (name: string) => number;
  /** A measured cost. @throws Refusal if inputs/costs.json has none of that name. */
  cost: (name: string) => number;
};

export const COSTS_FILE = join(import.meta.dirname, "costs.json");

/**
 * Reads the three files of inputs.
 *
 * @param changes Values that replace those of the files, by name; names of the workload are paths
 *   with dots.
 * @throws Refusal for a name that no file has.
 */
export function readInputs(changes: ReadonlyMap<string, number> = new Map()): Inputs {
  const platform = Published.parse(readJson(join(import.meta.dirname, "platform.json")));
  const costs = readCosts();
  const workload: unknown = readJson(join(import.meta.dirname, "workload.json"));
  for (const [name, value] of changes) {
    const figure = platform[name] ?? costs[name];
    if (figure) figure.value = value;
    else if (!replace(workload, name.split("."), value))
      throw new Refusal(`--set ${name}: no file of bench/scale/inputs has this name`);
  }
  return {
    workload: Workload.parse(workload),
    published: (name) => valueOf(platform, name, "platform.json"),
    cost: (name) => valueOf(costs, name, "costs.json"),
  };
}

export const readCosts = (): Costs => Costs.parse(readJson(COSTS_FILE));

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

function valueOf(figures: Record<string, { value: number }>, name: string, file: string): number {
  const figure = figures[name];
  if (!figure) throw new Refusal(`bench/scale/inputs/${file} has no figure "${name}"`);
  return figure.value;
}

/** @returns Whether there was a number to replace. */
function replace(at: unknown, [name = "", ...rest]: string[], value: number): boolean {
  if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return false;
  const holder = at as Record<string, unknown>;
  if (rest.length > 0) return replace(holder[name], rest, value);
  if (typeof holder[name] !== "number") return false;
  holder[name] = value;
  return true;
}
