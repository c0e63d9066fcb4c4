import type { Inputs } from "./inputs/read.ts";
import type { Histogram } from "./simulator/histogram.ts";
import { Station } from "./simulator/station.ts";

/** The classes of resources that a report distinguishes. */
export const CLASSES = [
  "database, primary",
  "database, replica",
  "object of a repository",
  "queue of events",
  "queue of deliveries",
  "consumers of events",
  "consumers of deliveries",
] as const;
export type ResourceClass = (typeof CLASSES)[number];

/** What a class of resources did in one phase of the day. */
export type ClassUse = {
  /**
   * The service time that arrived at the busiest one, as a share of the time that its servers have.
   */
  busiest: number;
  /** The same of all of the class. */
  mean: number;
  waits: Histogram;
  refused: number;
};

const DELIVERIES_AT_ONCE = 5;
/** A queue takes a burst of one second's messages. */
const QUEUE_PATIENCE_MS = 1000;

type Entry = { of: ResourceClass; station: Station; offeredMs: number };

/** Every station, and how busy each was since the beginning of a window. */
export class Stations {
  readonly #entries: Entry[] = [];
  readonly #copies: readonly Entry[];
  readonly #objects = new Map<number, Entry>();
  readonly #inputs: Inputs;
  readonly eventQueue: Entry;
  readonly deliveryQueue: Entry;
  readonly eventConsumers: Entry;
  readonly deliveryConsumers: Entry;

  constructor(inputs: Inputs, hasReplicas: boolean) {
    this.#inputs = inputs;
    const { workload, published } = inputs;
    const regions = hasReplicas ? Math.min(workload.regions.length, published("d1.replicas")) : 1;
    this.#copies = Array.from({ length: regions }, (_, region) =>
      this.#add(
        `database, ${region === 0 ? "primary" : "replica"}`,
        new Station(1, workload.d1.patienceMs),
      ),
    );
    const consumers = published("queues.consumersMax");
    this.eventQueue = this.#add("queue of events", new Station(1, QUEUE_PATIENCE_MS));
    this.deliveryQueue = this.#add("queue of deliveries", new Station(1, QUEUE_PATIENCE_MS));
    this.eventConsumers = this.#add("consumers of events", new Station(consumers));
    this.deliveryConsumers = this.#add(
      "consumers of deliveries",
      new Station(consumers * DELIVERIES_AT_ONCE),
    );
  }

  #add(of: ResourceClass, station: Station): Entry {
    const entry = { of, station, offeredMs: 0 };
    this.#entries.push(entry);
    return entry;
  }

  /** The primary for writes; for reads the replica of the region, if there is one. */
  database(region: number, isWrite: boolean): Entry {
    const entry = this.#copies[isWrite ? 0 : region % this.#copies.length];
    if (!entry) throw new Error(`there is no copy of the database in region ${region}`);
    return entry;
  }

  object(repository: number): Entry {
    let entry = this.#objects.get(repository);
    if (!entry) {
      const station = new Station(1, this.#inputs.workload.objects.patienceMs);
      entry = { of: "object of a repository", station, offeredMs: 0 };
      this.#objects.set(repository, entry);
    }
    return entry;
  }

  /** Notes what waits at the end of a window. */
  mark(): void {
    for (const { station } of [...this.#entries, ...this.#objects.values()]) station.mark();
  }

  /**
   * How busy the stations are with all that arrived in the window, and with what followed from it
   * later, by class.
   */
  closeWindow(lengthMs: number): Map<ResourceClass, { busiest: number; mean: number }> {
    const byClass = new Map<ResourceClass, { busiest: number; sum: number; count: number }>();
    for (const entry of [...this.#entries, ...this.#objects.values()]) {
      const utilisation = this.#utilisation(entry, lengthMs);
      const use = byClass.get(entry.of) ?? { busiest: 0, sum: 0, count: 0 };
      byClass.set(entry.of, {
        busiest: Math.max(use.busiest, utilisation),
        sum: use.sum + utilisation,
        count: use.count + 1,
      });
    }
    return new Map(
      [...byClass].map(([of, { busiest, sum, count }]) => [of, { busiest, mean: sum / count }]),
    );
  }

  /** Passes over a time that is not simulated, at the load of the window before it. */
  skip(fromMs: number, toMs: number, windowMs: number): void {
    // What is not simulated leaves no object with a backlog: objects are idle most of the time.
    for (const [repository, entry] of this.#objects) {
      const utilisation = this.#utilisation(entry, windowMs);
      if (utilisation < 1) this.#objects.delete(repository);
      else entry.station.skip(fromMs, toMs, utilisation);
    }
    for (const entry of this.#entries)
      entry.station.skip(fromMs, toMs, this.#utilisation(entry, windowMs));
    for (const entry of [...this.#entries, ...this.#objects.values()])
      entry.offeredMs = entry.station.offeredMs;
  }

  #utilisation({ station, offeredMs }: Entry, lengthMs: number): number {
    return (station.offeredMs - offeredMs) / (lengthMs * station.servers);
  }
}

export type StationEntry = Entry;
