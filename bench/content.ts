/**
 * `npm run bench:content`: response times of the API for git data, compared with git on the bare repository.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { casesOf, findSamples, type Case } from "./content/cases.ts";
import { openContentForge, type ContentForge } from "./content/forge.ts";
import { parseOptions } from "./content/options.ts";
import { git, stopGit } from "./git/git.ts";
import { copySource, makeSource } from "./git/source.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";
import { formatCells, formatInteger } from "./support/table.ts";

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const { size, repository, runs, cache } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  const { directory } = resources;
  await resources.track({ close: stopGit });
  const source = repository
    ? await copySource(size, repository, directory)
    : await makeSource(size, cache, directory);
  // A copy, because a case adds commits to it.
  const bare = join(directory, "bare.git");
  await git(directory, ["clone", "--quiet", "--bare", "--no-local", `file://${source.path}`, bare]);
  const forge = await resources.track(openContentForge(join(directory, "data"), source.branch));
  await git(bare, [...forge.git.options, "push", "--quiet", "--mirror", forge.git.url]);
  // As an operator would do: with bitmaps and a commit graph.
  await git(bare, ["gc", "--quiet"]);
  await git(bare, ["commit-graph", "write", "--reachable", "--changed-paths"]);

  const samples = await findSamples(bare, source.branch);
  console.log(
    `${size}: ${formatInteger(samples.commits)} commits, ${formatInteger(samples.entries)} entries; ${samples.oldFile}; ${samples.farBranch}\n`,
  );
  const rows: string[][] = [];
  for (const one of casesOf(samples)) {
    rows.push([one.name, ...(await measure(forge, bare, one, runs))]);
    console.log(`measured: ${one.name}`);
  }
  const columns = ["case", "cold ms", "R2", "warm ms", "R2", "bytes", "git ms", "ratio"];
  console.log(`\n${formatCells(columns, rows)}`);
}

async function measure(
  forge: ContentForge,
  bare: string,
  one: Case,
  runsAsked: number,
): Promise<string[]> {
  const runs = Math.max(1, Math.round(runsAsked * (one.share ?? 1)));
  await forge.restartCold();
  const cold = await askAll(forge, one, 0);
  const [warm, theirs]: [Asked[], number[]] = [[], []];
  for (let run = 1; run <= runs; run += 1) {
    warm.push(await askAll(forge, one, run));
    theirs.push(await runAll(bare, one, run));
  }
  const warmSeconds = middle(warm.map(({ seconds }) => seconds));
  const gitSeconds = middle(theirs);
  return [
    milliseconds(cold.seconds),
    formatInteger(cold.r2Calls),
    milliseconds(warmSeconds),
    formatInteger(middle(warm.map(({ r2Calls }) => r2Calls))),
    formatInteger(cold.bytes),
    milliseconds(gitSeconds),
    (warmSeconds / gitSeconds).toFixed(2),
  ];
}

type Asked = { seconds: number; r2Calls: number; bytes: number };

async function askAll(forge: ContentForge, one: Case, run: number): Promise<Asked> {
  const sum: Asked = { seconds: 0, r2Calls: 0, bytes: 0 };
  for (const request of one.requests(run)) {
    const answer = await forge.ask(request);
    sum.seconds += answer.seconds;
    sum.r2Calls += answer.r2Calls;
    sum.bytes += answer.bytes;
  }
  return sum;
}

/** Seconds until git has finished, including the start of its processes. */
async function runAll(bare: string, one: Case, run: number): Promise<number> {
  let seconds = 0;
  for (const { args, input } of one.commands(run)) {
    const from = performance.now();
    await git(bare, args, input === undefined ? [] : [input]);
    seconds += (performance.now() - from) / 1000;
  }
  return seconds;
}

function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function milliseconds(seconds: number): string {
  return (seconds * 1000).toFixed(1);
}
