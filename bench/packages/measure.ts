import type { Case, Request } from "../api/cases.ts";
import { type Answer, ask, openClient } from "../api/client.ts";
import { CONCURRENCY, time, type Timing } from "../api/timing.ts";
import { countUsage, type Journal, type Usage } from "../api/usage.ts";
import { readCpuTime } from "../support/process.ts";
import { formatCells, formatInteger } from "../support/table.ts";
import { forEachAtOnce, type Registry } from "./registry.ts";

/** Packages that are published one at a time, and as many at once. */
const PUBLICATIONS = 100;

/** What is done with the registries of one format. The first is the service's. */
export type Subject = {
  registries: readonly Registry[];
  /** Requests that read. */
  casesOf: (registry: Registry) => Case[];
  /** The request that publishes the new package of a number, with the status of its answer. */
  publicationOf: (registry: Registry, at: number) => Promise<Request & { status: number }>;
};

/**
 * Measures the registries one after the other. @returns A table, with a line for each case and
 * registry.
 */
export async function measure(
  { registries, casesOf, publicationOf }: Subject,
  journal: Journal,
  seconds: number,
): Promise<string> {
  const timings = new Map<string, Timing[]>();
  const note = (name: string, timing: Timing): void =>
    void timings.set(name, [...(timings.get(name) ?? []), timing]);
  const usages = await countUsages(registries, casesOf, journal);
  for (const registry of registries) {
    const client = openClient(registry.origin);
    for (const each of casesOf(registry)) {
      const cpuSeconds = () => readCpuTime(registry.pid()).own;
      note(each.name, await time(client, each, seconds, cpuSeconds));
    }
    client.close();
    note("publish", await timePublishing(registry, publicationOf));
    console.log(`measured: ${registry.name}`);
  }
  return describe(registries, timings, usages);
}

/** Counts what the cases take of D1. */
async function countUsages(
  [own]: readonly Registry[],
  casesOf: Subject["casesOf"],
  journal: Journal,
): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>();
  if (!own) return usages;
  const client = openClient(own.origin);
  for (const each of casesOf(own)) {
    // Indexes are kept: what counts is what all requests but the first take.
    await ask(client, each);
    usages.set(each.name, await countUsage(client, journal, each));
  }
  client.close();
  return usages;
}

/** Times the publication of new packages: one at a time, then several at once. */
async function timePublishing(
  registry: Registry,
  publicationOf: Subject["publicationOf"],
): Promise<Timing> {
  const requests = await Promise.all(
    Array.from({ length: 2 * PUBLICATIONS }, (_, at) => publicationOf(registry, at)),
  );
  const client = openClient(registry.origin);
  const send = ({ status, ...request }: Request & { status: number }): Promise<Answer> =>
    ask(client, { name: "publish", status, next: () => request });
  const durations: number[] = [];
  for (const request of requests.slice(0, PUBLICATIONS)) {
    durations.push((await send(request)).durationMs);
  }
  const from = performance.now();
  const cpuFrom = readCpuTime(registry.pid()).own;
  await forEachAtOnce(requests.slice(PUBLICATIONS), CONCURRENCY, async (request) => {
    await send(request);
  });
  const seconds = (performance.now() - from) / 1000;
  client.close();
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return {
    perSecond: PUBLICATIONS / seconds,
    cpuMs: (1000 * (readCpuTime(registry.pid()).own - cpuFrom)) / PUBLICATIONS,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

function describe(
  registries: readonly Registry[],
  timings: ReadonlyMap<string, readonly Timing[]>,
  usages: ReadonlyMap<string, Usage>,
): string {
  const head = ["case", "req/s", "ratio", "CPU ms", "p50 ms", "p99 ms", "rounds", "rows read"];
  const lines = [...timings].flatMap(([name, measured]) =>
    measured.map((timing, at) => {
      const other = measured[1];
      const usage = at === 0 ? usages.get(name) : undefined;
      return [
        `${name}, ${registries[at]?.name ?? ""}`,
        formatInteger(timing.perSecond),
        at === 0 && other ? (timing.perSecond / other.perSecond).toFixed(2) : "",
        timing.cpuMs.toFixed(2),
        timing.p50Ms.toFixed(1),
        timing.p99Ms.toFixed(1),
        usage ? String(usage.rounds) : "",
        usage ? formatInteger(usage.rowsRead) : "",
      ];
    }),
  );
  return formatCells(head, lines);
}

/**
 * Times something several times, by turns of the registries. @returns A table of the medians, in
 * seconds.
 */
export async function measureByTurns(
  name: string,
  registries: readonly Registry[],
  turns: number,
  run: (registry: Registry) => Promise<number>,
): Promise<string> {
  const durations = registries.map((): number[] => []);
  for (let turn = 0; turn < turns; turn++) {
    for (const [at, registry] of registries.entries()) {
      durations[at]?.push(await run(registry));
    }
  }
  const medians = durations.map(
    (list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN,
  );
  const [own = Number.NaN, other] = medians;
  const lines = registries.map((registry, at) => [
    `${name}, ${registry.name}`,
    (medians[at] ?? Number.NaN).toFixed(1),
    at === 0 && other !== undefined ? (own / other).toFixed(2) : "",
  ]);
  return formatCells(["case", "seconds", "ratio"], lines);
}
