import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { git } from "../git/git.ts";
import { HANGING, type Arrival } from "./arrival.ts";
import { nowMs } from "./clock.ts";
import type { D1Calls, EventForge, Written } from "./forge.ts";
import type { Receiver } from "./receiver.ts";

/** The measurements of a series of events, sequential or concurrent. */
export type Measured = {
  events: number;
  deliveries: number;
  /** From the first request to the last arrival. */
  seconds: number;
  /**
   * Delays of all deliveries, sorted: from the response, and from the start of the request, to the
   * arrival.
   */
  fromAnswerMs: number[];
  fromRequestMs: number[];
  d1: D1Calls;
  /** Messages of all queues. */
  messages: number;
  /** CPU time of workerd, until the log is quiet. */
  cpuSeconds: number;
};

const WARM_UP_EVENTS = 20;

export type Setup = { forge: EventForge; receiver: Receiver };

/** Creates a repository with `hooks` hooks, of which the middle one may hang. */
export async function makeRepositoryWithHooks(
  { forge, receiver }: Setup,
  repository: string,
  hooks: number,
  isOneHanging = false,
): Promise<void> {
  await forge.makeRepository(repository);
  const paths = Array.from({ length: hooks }, (_, at) =>
    isOneHanging && at === hooks >> 1 ? HANGING : `/${repository}/${at}`,
  );
  await mapConcurrently(paths, 8, (path) =>
    forge.makeHook(repository, `${receiver.origin}${path}`),
  );
}

/** Runs the full path a few times, until the code is compiled and connections are open. */
export async function warmUp({ forge, receiver }: Setup, repository: string): Promise<void> {
  for (let at = 0; at < WARM_UP_EVENTS; at += 1) {
    await forge.write(repository, `warm-up/${at}`);
    await receiver.take(1);
  }
}

/** Sequential events: each starts after all deliveries of the previous one have arrived. */
export async function measureAlone(
  { forge, receiver }: Setup,
  repository: string,
  { events, deliveries }: { events: number; deliveries: number },
): Promise<Measured> {
  const usage = await openUsage(forge);

  const written: Written[] = [];
  const arrivals: Arrival[] = [];
  for (let at = 0; at < events; at += 1) {
    written.push(await forge.write(repository, `alone/${at}`));
    arrivals.push(...(await receiver.take(deliveries)));
  }
  return summarize(written, arrivals, await usage());
}

/** Events in a row: each starts after the response of the previous one. */
export async function measureRow(
  { forge, receiver }: Setup,
  repository: string,
  { events, deliveries }: { events: number; deliveries: number },
): Promise<Measured> {
  const usage = await openUsage(forge);
  const written: Written[] = [];
  for (let at = 0; at < events; at += 1) {
    written.push(await forge.write(repository, `row/${at}`));
  }
  const arrivals = await receiver.take(events * deliveries);
  return summarize(written, arrivals, await usage());
}

/**
 * Many repositories concurrently, each with events in a row.
 *
 * @param hooks Hooks of each.
 * @param round Sets the files apart if the same repositories are measured again.
 */
export async function measureCrowd(
  { forge, receiver }: Setup,
  repositories: readonly string[],
  events: number,
  hooks = 1,
  round = 0,
): Promise<Measured> {
  const usage = await openUsage(forge);
  const written = await mapConcurrently(repositories, repositories.length, async (repository) => {
    const own: Written[] = [];
    for (let at = 0; at < events; at += 1) {
      own.push(await forge.write(repository, `crowd/${round}-${at}`));
    }
    return own;
  });
  const arrivals = await receiver.take(repositories.length * events * hooks);
  return summarize(written.flat(), arrivals, await usage());
}

/** Concurrent pushes by git, each to its own repository with one hook. */
export async function measurePushes(
  { forge, receiver }: Setup,
  repositories: readonly string[],
  directory: string,
): Promise<Measured> {
  const works = await mapConcurrently(repositories, 1, async (repository) => {
    const work = join(directory, repository);
    mkdirSync(work);
    await git(work, ["init", "--quiet", "--initial-branch=pushed"]);
    await git(work, ["commit", "--quiet", "--allow-empty", "-m", repository]);
    return { work, url: forge.gitUrl(repository), commit: await git(work, ["rev-parse", "HEAD"]) };
  });
  const usage = await openUsage(forge);
  const written = await mapConcurrently(works, works.length, async ({ work, url, commit }) => {
    const startedAtMs = nowMs();
    await git(work, [...forge.gitOptions, "push", "--quiet", url, "pushed"]);
    return { commit, startedAtMs, answeredAtMs: nowMs() };
  });
  const arrivals = await receiver.take(repositories.length);
  return summarize(written, arrivals, await usage());
}

function summarize(written: Written[], arrivals: Arrival[], usage: Usage): Measured {
  const byCommit = new Map(written.map((one) => [one.commit, one]));
  const delays = (from: (one: Written) => number): number[] =>
    arrivals
      .map(({ commit, atMs }) => {
        const one = byCommit.get(commit);
        if (!one) throw new Error(`unexpected delivery of ${commit}`);
        return atMs - from(one);
      })
      .toSorted((a, b) => a - b);
  const firstMs = Math.min(...written.map(({ startedAtMs }) => startedAtMs));
  // Without hooks, the series ends with the last response.
  const ends =
    arrivals.length > 0
      ? arrivals.map(({ atMs }) => atMs)
      : written.map(({ answeredAtMs }) => answeredAtMs);
  const lastMs = Math.max(...ends);
  return {
    events: written.length,
    deliveries: arrivals.length,
    seconds: (lastMs - firstMs) / 1000,
    fromAnswerMs: delays(({ answeredAtMs }) => answeredAtMs),
    fromRequestMs: delays(({ startedAtMs }) => startedAtMs),
    ...usage,
  };
}

type Usage = Pick<Measured, "d1" | "messages" | "cpuSeconds">;

/** Starts to measure the usage of the service; the returned function ends the measurement. */
async function openUsage({ takeUsage, cpuSeconds }: EventForge): Promise<() => Promise<Usage>> {
  await takeUsage();
  const before = cpuSeconds();
  return async () => ({ ...(await takeUsage()), cpuSeconds: cpuSeconds() - before });
}

/** Processes a list, with at most `concurrency` items at a time. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
