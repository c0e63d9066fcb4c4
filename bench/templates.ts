/**
 * `npm run bench:templates`: what a repository of a template costs, by the number of its files,
 * beside an empty one.
 *
 * Runs the service of `npm start`, with its state in a temporary directory.
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { git, stopGit } from "./git/git.ts";
import { describeMachine } from "./support/machine.ts";
import { numberOption, refusingUnknown } from "./support/options.ts";
import { treeCpuSeconds } from "./support/process-tree.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openStartedService, type StartedService } from "./support/started-service.ts";
import { percentile } from "./support/statistics.ts";
import { formatCells } from "./support/table.ts";

const OWNER = "root";
const SIZES = [1, 5000];
/** Rounds in which the cases take turns, so that each meets the same machine. */
const ROUNDS = 5;

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { runs, pauseMs } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  await track({ close: stopGit });
  const service = await track(openStartedService(join(directory, "data")));
  const post = await openApi(service);
  for (const size of SIZES) await makeTemplate(service, post, directory, size);

  const cases = casesOf(post);
  const times = new Map<string, number[]>();
  const cpu = new Map<string, number>();
  for (const [name, run] of cases) await run(`warm-${name.replaceAll(/\W+/g, "-")}`);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, [name, run]] of cases.entries()) {
      const before = treeCpuSeconds(service.runtimePid());
      for (let count = 0; count < runs; count++) {
        const start = performance.now();
        await run(`made-${at}-${round}-${count}`);
        times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
        // What follows from a request shares its thread with the next one.
        await wait(pauseMs);
      }
      const used = treeCpuSeconds(service.runtimePid()) - before;
      cpu.set(name, (cpu.get(name) ?? 0) + used);
    }
  }
  const rows = cases.map(([name]) => {
    const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b);
    const cpuMs = ((cpu.get(name) ?? 0) * 1000) / sorted.length;
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
    return [name, toTenths(p50), toTenths(p99), toTenths(cpuMs)];
  });
  console.log(`\n${formatCells(["case", "p50 ms", "p99 ms", "CPU ms"], rows)}`);
}

function toTenths(value: number): string {
  return value.toFixed(1);
}

function parseOptions(args: string[]): { runs: number; pauseMs: number } {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        runs: { type: "string", default: "20" },
        pause: { type: "string", default: "100" },
      },
    });
    return {
      runs: Math.round(numberOption("--runs", values.runs, 1, 1000)),
      pauseMs: numberOption("--pause", values.pause, 0, 10_000),
    };
  });
}

type Post = (path: string, body: object, method?: string) => Promise<Record<string, unknown>>;

async function openApi({ origin, password }: StartedService): Promise<Post> {
  const send = async (authorization: string, method: string, path: string, body: object) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { Authorization: authorization, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const basic = `Basic ${Buffer.from(`${OWNER}:${password}`).toString("base64")}`;
  const token = { name: "bench", scopes: ["all"] };
  const { sha1 } = await send(basic, "POST", `/users/${OWNER}/tokens`, token);
  return (path, body, method = "POST") => send(`token ${String(sha1)}`, method, path, body);
}

function templateOf(size: number): string {
  return `template-${size}`;
}

async function makeTemplate(
  { origin, password }: StartedService,
  post: Post,
  directory: string,
  size: number,
): Promise<void> {
  const name = templateOf(size);
  const bare = join(directory, `${name}.git`);
  await git(directory, ["init", "--quiet", "--bare", "--initial-branch=main", bare]);
  await git(bare, ["fast-import", "--quiet", "--done"], [...history(size)]);
  await post("/user/repos", { name });
  const url = origin.replace("//", `//${OWNER}:${password}@`);
  await git(bare, ["push", "--quiet", `${url}/${OWNER}/${name}.git`, "main"]);
  await post(`/repos/${OWNER}/${name}`, { template: true }, "PATCH");
}

/** One commit with so many files, a hundred in each directory. */
function* history(size: number): Generator<string> {
  yield "commit refs/heads/main\ncommitter C <c@example.com> 1700000000 +0000\ndata 5\nfiles";
  for (let at = 0; at < size; at++) {
    const text = `This is file ${at} of ${size}.\n`.repeat(10);
    yield `\nM 100644 inline d${Math.floor(at / 100)}/f${at}.txt\ndata ${text.length}\n${text}`;
  }
  yield "\ndone\n";
}

type Case = readonly [name: string, run: (repo: string) => Promise<unknown>];

function casesOf(post: Post): readonly Case[] {
  return [
    ["an empty repository", (name) => post("/user/repos", { name: `e-${name}` })],
    [
      "a repository with a README",
      (name) => post("/user/repos", { name: `r-${name}`, auto_init: true }),
    ],
    ...SIZES.map((size): Case => {
      const path = `/repos/${OWNER}/${templateOf(size)}/generate`;
      const words = `of a template of ${size} ${size === 1 ? "file" : "files"}`;
      return [
        words,
        (name) => post(path, { owner: OWNER, name: `t${size}-${name}`, git_content: true }),
      ];
    }),
  ];
}
