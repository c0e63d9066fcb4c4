/**
 * `npm run bench:packages`: response times and D1 usage of registries of packages, beside those of another registry.
 *
 * Runs the service of `npm start` and Verdaccio, each with its state in a temporary directory. bench/README.md explains the
 * numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import type { Case } from "./api/cases.ts";
import { type Answer, ask, openClient } from "./api/client.ts";
import { CONCURRENCY, time, type Timing } from "./api/timing.ts";
import { countUsage, openJournal, type Journal, type Usage } from "./api/usage.ts";
import { makeDocument } from "./packages/documents.ts";
import { install } from "./packages/install.ts";
import { type Options, parseOptions } from "./packages/options.ts";
import { addressOf, type Registry } from "./packages/registry.ts";
import { openVerdaccio } from "./packages/verdaccio.ts";
import { describeMachine } from "./support/machine.ts";
import { readCpuTime } from "./support/process.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openService } from "./support/service.ts";
import { formatCells, formatInteger } from "./support/table.ts";

const ADMINISTRATOR = {
  name: "root",
  password: "correct horse battery",
  email: "root@example.com",
};
const LARGE = "large";
const MANY = "many";
/** Requests at once while packages are loaded. */
const LOADING = 8;
const INSTALLATIONS = 3;
const ABBREVIATED = "application/vnd.npm.install-v1+json";
const PUBLISH = "publish";
/** Packages that are published one at a time, and as many at once. */
const PUBLICATIONS = 100;

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();

  const journal = openJournal();
  const own = await openOwn(resources, journal);
  const other = await openOther(resources);
  const registries = other ? [own, other] : [own];
  for (const registry of registries) await load(registry, options);

  const usages = await countUsages(own, journal, options);
  const timings = new Map<string, Timing[]>();
  for (const registry of registries) {
    const client = openClient(registry.origin);
    for (const each of casesOf(registry, options)) {
      const timing = await time(
        client,
        each,
        options.seconds,
        () => readCpuTime(registry.pid()).own,
      );
      timings.set(each.name, [...(timings.get(each.name) ?? []), timing]);
      console.log(`measured: ${each.name}, ${registry.name}`);
    }
    client.close();
    timings.set(PUBLISH, [...(timings.get(PUBLISH) ?? []), await timePublishing(registry)]);
  }
  console.log(`\n${describeRates(registries, timings, usages)}`);
  console.log(`\n${await describeInstallations(resources, registries, options)}`);
}

async function openOwn({ directory, track }: Resources, journal: Journal): Promise<Registry> {
  const service = await track(
    openService(join(directory, "data"), {
      vars: { LOG_D1_ROWS: "true" },
      onLog: journal.note,
      administrator: ADMINISTRATOR,
    }),
  );
  const { name, password } = ADMINISTRATOR;
  const answer = await fetch(new URL(`/api/v1/users/${name}/tokens`, service.origin), {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${name}:${password}`)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ name: "bench", scopes: ["write:package"] }),
  });
  const { sha1: token } = (await answer.json()) as { sha1: string };
  return { ...service, name: "Edgeforge", path: `/api/packages/${name}/npm/`, token };
}

async function openOther({ directory, track }: Resources): Promise<Registry | undefined> {
  const verdaccio = await openVerdaccio(join(directory, "verdaccio"));
  if (verdaccio) return track(verdaccio);
  console.log("Verdaccio can't be installed: there is nothing to compare with");
  return undefined;
}

/** Publishes a package of many versions, and many packages, with one that depends on all of these. */
async function load(registry: Registry, { versions, packages }: Options): Promise<void> {
  const from = performance.now();
  for (let patch = 0; patch < versions; patch++) await publish(registry, LARGE, `1.0.${patch}`);
  const names = Array.from({ length: packages }, (_, at) => `package-${at}`);
  const queue = names.values();
  const work = async (): Promise<void> => {
    for (const name of queue) await publish(registry, name, "1.0.0");
  };
  await Promise.all(Array.from({ length: LOADING }, work));
  await publish(registry, MANY, "1.0.0", Object.fromEntries(names.map((name) => [name, "^1.0.0"])));
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  console.log(
    `loaded ${formatInteger(versions)} versions and ${formatInteger(packages)} packages: ${registry.name}, ${seconds} s`,
  );
}

async function publish(
  registry: Registry,
  name: string,
  version: string,
  dependencies: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { token } = registry;
  const answer = await fetch(new URL(name, addressOf(registry)), {
    method: "PUT",
    headers: {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: await makeDocument(name, version, dependencies),
  });
  await answer.arrayBuffer();
  if (answer.status !== 201) throw new Error(`${registry.name} answered ${answer.status}`);
}

/** The measured requests that read. */
function casesOf({ path }: Registry, { packages }: Options): Case[] {
  const get = (name: string, below: () => string, accept = "application/json"): Case => ({
    name,
    status: 200,
    next: () => ({ method: "GET", path: path + below(), headers: { accept } }),
  });
  let at = 0;
  return [
    get("document of the large package", () => LARGE),
    get("the same, for installing", () => LARGE, ABBREVIATED),
    get("documents of small packages", () => `package-${at++ % packages}`, ABBREVIATED),
    get("tarball", () => "package-0/-/package-0-1.0.0.tgz"),
  ];
}

/** Counts what the cases take of D1. */
async function countUsages(
  registry: Registry,
  journal: Journal,
  options: Options,
): Promise<Map<string, Usage>> {
  const client = openClient(registry.origin);
  const usages = new Map<string, Usage>();
  for (const each of casesOf(registry, options)) {
    usages.set(each.name, await countUsage(client, journal, each));
  }
  client.close();
  return usages;
}

/** Times the publication of new packages: one at a time, then several at once. */
async function timePublishing(registry: Registry): Promise<Timing> {
  const documents = await Promise.all(
    Array.from({ length: 2 * PUBLICATIONS }, (_, at) => makeDocument(`new-${at}`, "1.0.0")),
  );
  const client = openClient(registry.origin);
  const { path, token } = registry;
  const send = (body: string, at: number): Promise<Answer> =>
    ask(client, {
      name: PUBLISH,
      status: 201,
      next: () => ({ method: "PUT", path: `${path}new-${at}`, ...(token && { token }), body }),
    });
  const durations: number[] = [];
  for (const [at, body] of documents.slice(0, PUBLICATIONS).entries()) {
    durations.push((await send(body, at)).durationMs);
  }
  const queue = [...documents.entries()].slice(PUBLICATIONS).values();
  const work = async (): Promise<void> => {
    for (const [at, body] of queue) await send(body, at);
  };
  const from = performance.now();
  const cpuFrom = readCpuTime(registry.pid()).own;
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
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

/** A table of the cases, each with a line for each registry. */
function describeRates(
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

/** A table of installations: the median of several, by turns. */
async function describeInstallations(
  { directory }: Resources,
  registries: readonly Registry[],
  { packages }: Options,
): Promise<string> {
  const durations = registries.map((): number[] => []);
  for (let turn = 0; turn < INSTALLATIONS; turn++) {
    for (const [at, registry] of registries.entries()) {
      durations[at]?.push(await install(directory, registry, MANY));
    }
  }
  const medians = durations.map(
    (list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN,
  );
  const [own = Number.NaN, other] = medians;
  const lines = registries.map(({ name }, at) => [
    `npm install of ${formatInteger(packages)} packages, ${name}`,
    (medians[at] ?? Number.NaN).toFixed(1),
    at === 0 && other !== undefined ? (own / other).toFixed(2) : "",
  ]);
  return formatCells(["case", "seconds", "ratio"], lines);
}
