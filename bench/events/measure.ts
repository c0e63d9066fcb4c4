import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { git } from "../git/git.ts";
import { HANGING, type Arrival } from "./arrival.ts";
import { nowMs } from "./clock.ts";
import type { D1Calls, EventForge, Written } from "./forge.ts";
import type { Receiver } from "./receiver.ts";

/** What was measured of some events, one after another or many at once. */
export type Measured = {
  events: number;
  deliveries: number;
  /** From the first request to the last arrival. */
  seconds: number;
  /** Of each delivery, sorted: from the answer, and from the start of the request, to its arrival. */
  fromAnswerMs: number[];
  fromRequestMs: number[];
  d1: D1Calls;
  /** Processor time of workerd, until all was logged. */
  cpuSeconds: number;
};

const WARM_UP_EVENTS = 20;

type Stand = { forge: EventForge; receiver: Receiver };

/** Makes a repository and so many hooks of it, of which the one in the middle may never answer. */
export async function makeHooked(
  { forge, receiver }: Stand,
  repository: string,
  hooks: number,
  isOneHanging = false,
): Promise<void> {
  await forge.makeRepository(repository);
  const paths = Array.from({ length: hooks }, (_, at) =>
    isOneHanging && at === hooks >> 1 ? HANGING : `/${repository}/${at}`,
  );
  await inLanes(paths, 8, (path) => forge.makeHook(repository, `${receiver.origin}${path}`));
}

/** Goes the whole way a few times: until the code is compiled, and connections are made. */
export async function warmUp({ forge, receiver }: Stand, repository: string): Promise<void> {
  for (let at = 0; at < WARM_UP_EVENTS; at += 1) {
    await forge.write(repository, `warm-up/${at}`);
    await receiver.take(1);
  }
}

/** Events one at a time: the next one when all deliveries of the one before have come. */
export async function measureAlone(
  { forge, receiver }: Stand,
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

/** Events in a row: each as soon as the one before it is answered. */
export async function measureRow(
  { forge, receiver }: Stand,
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

/** Many repositories at once, each of which has one hook and goes on as soon as it is answered. */
export async function measureCrowd(
  { forge, receiver }: Stand,
  repositories: readonly string[],
  events: number,
): Promise<Measured> {
  const usage = await openUsage(forge);
  const written = await inLanes(repositories, repositories.length, async (repository) => {
    const own: Written[] = [];
    for (let at = 0; at < events; at += 1) own.push(await forge.write(repository, `crowd/${at}`));
    return own;
  });
  const arrivals = await receiver.take(repositories.length * events);
  return summarize(written.flat(), arrivals, await usage());
}

/** Pushes by git, all at once, each to a repository of its own with one hook. */
export async function measurePushes(
  { forge, receiver }: Stand,
  repositories: readonly string[],
  directory: string,
): Promise<Measured> {
  const works = await inLanes(repositories, 1, async (repository) => {
    const work = join(directory, repository);
    mkdirSync(work);
    await git(work, ["init", "--quiet", "--initial-branch=pushed"]);
    await git(work, ["commit", "--quiet", "--allow-empty", "-m", repository]);
    return { work, url: forge.gitUrl(repository), commit: await git(work, ["rev-parse", "HEAD"]) };
  });
  const usage = await openUsage(forge);
  const written = await inLanes(works, works.length, async ({ work, url, commit }) => {
    const startedAtMs = nowMs();
    await git(work, [...forge.gitOptions, "push", "--quiet", url, "pushed"]);
    return { commit, startedAtMs, answeredAtMs: nowMs() };
  });
  const arrivals = await receiver.take(repositories.length);
  return summarize(written, arrivals, await usage());
}

function summarize(written: Written[], arrivals: Arrival[], { d1, cpuSeconds }: Usage): Measured {
  const byCommit = new Map(written.map((one) => [one.commit, one]));
  const delays = (from: (one: Written) => number): number[] =>
    arrivals
      .map(({ commit, atMs }) => {
        const one = byCommit.get(commit);
        if (!one) throw new Error(`something else was delivered: ${commit}`);
        return atMs - from(one);
      })
      .toSorted((a, b) => a - b);
  const firstMs = Math.min(...written.map(({ startedAtMs }) => startedAtMs));
  // The last answer, where nobody is told.
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
    d1,
    cpuSeconds,
  };
}

type Usage = Pick<Measured, "d1" | "cpuSeconds">;

/** Begins to count what the service takes, and returns what tells it at the end. */
async function openUsage({ takeUsage, cpuSeconds }: EventForge): Promise<() => Promise<Usage>> {
  await takeUsage();
  const before = cpuSeconds();
  return async () => ({ d1: await takeUsage(), cpuSeconds: cpuSeconds() - before });
}

/** Works on a list, so many items at a time. */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
  return results;
}
