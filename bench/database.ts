/**
 * `npm run bench:database`: CPU time of requests with the local database and with Miniflare's
 * simulator of D1.
 *
 * bench/README.md explains the numbers.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import type { BindingServer } from "../scripts/serve/worker.ts";
import { casesOf, type Case } from "./api/cases.ts";
import { ask, type Client, openClient } from "./api/client.ts";
import { load } from "./api/load.ts";
import { populationOf } from "./api/population.ts";
import { describeMachine } from "./support/machine.ts";
import { numberOption, refusingUnknown } from "./support/options.ts";
import { readCpuTime } from "./support/process.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openService } from "./support/service.ts";
import { median } from "./support/statistics.ts";
import { formatCells } from "./support/table.ts";

const SERVERS: readonly BindingServer[] = ["simulator", "local"];

const CASES = new Set(["user", "repository", "search, common word", "create repository"]);

/** Concurrent requests. */
const CONCURRENCY = 8;

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const { scale, requests, rounds } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();

  const population = populationOf(scale);
  const cases = casesOf(population).filter(({ name }) => CASES.has(name));
  const services = [];
  for (const server of SERVERS) {
    const data = join(resources.directory, server);
    const service = await resources.track(openService(data, { servers: { database: server } }));
    await load(await service.database(), population);
    services.push({ service, pid: service.pid(), client: openClient(service.origin) });
  }

  const lines: string[][] = [];
  for (const apiCase of cases) {
    const measured: number[][] = SERVERS.map(() => []);
    for (const { client } of services) await send(client, apiCase, requests);
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, { pid, client }] of services.entries()) {
        const from = readCpuTime(pid).own;
        await send(client, apiCase, requests);
        measured[at]?.push((1000 * (readCpuTime(pid).own - from)) / requests);
      }
    }
    const [before = NaN, after = NaN] = measured.map(median);
    const cells = [before, after, before / after].map((value) => value.toFixed(2));
    lines.push([apiCase.name, ...cells]);
    console.log(`measured: ${apiCase.name}`);
  }
  // The last one first: each service takes the latest workerd for its own.
  for (const { client, service } of services.toReversed()) {
    client.close();
    await resources.release(service);
  }

  const columns = [...SERVERS.map((server) => `${server}, CPU ms`), "ratio"];
  console.log(`\nCPU of workerd per request; medians of ${rounds} rounds of ${requests}\n`);
  console.log(formatCells(["case", ...columns], lines));
}

async function send(client: Client, apiCase: Case, requests: number): Promise<void> {
  let left = requests;
  const loop = async (): Promise<void> => {
    while (left-- > 0) await ask(client, apiCase);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
}

function parseOptions(args: string[]): { scale: number; requests: number; rounds: number } {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        scale: { type: "string", default: "0.1" },
        requests: { type: "string", default: "300" },
        rounds: { type: "string", default: "7" },
      },
    });
    return {
      scale: numberOption("--scale", values.scale, 0.01, 10),
      requests: Math.round(numberOption("--requests", values.requests, 1, 100_000)),
      rounds: Math.round(numberOption("--rounds", values.rounds, 1, 100)),
    };
  });
}
