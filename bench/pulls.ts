/**
 * `npm run bench:pulls`: response times of pull requests, compared with git on the bare repository,
 * and what a push to the base of many open ones costs.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { openContentForge, type ContentForge } from "./content/forge.ts";
import { COLUMNS, measure, middle } from "./content/measure.ts";
import { git, stopGit } from "./git/git.ts";
import { copySource, makeSource } from "./git/source.ts";
import { casesOf, open } from "./pulls/cases.ts";
import { addHeads, headOf } from "./pulls/heads.ts";
import { parseOptions } from "./pulls/options.ts";
import { measurePush, mergeAll, pushCommit, untilChecked } from "./pulls/push.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";
import { formatCells, formatInteger } from "./support/table.ts";

/** Cases that open a pull request in each of their runs. */
const OPENING_CASES = 2;
/** Clients that open the pull requests before a push to their base. */
const OPENED_AT_ONCE = 4;

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const { size, repository, runs, open: openCount, cache } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  const { directory } = resources;
  await resources.track({ close: stopGit });
  const source = repository
    ? await copySource(size, repository, directory)
    : await makeSource(size, cache, directory);
  const { branch } = source;
  const bare = join(directory, "bare.git");
  await git(directory, ["clone", "--quiet", "--bare", "--no-local", `file://${source.path}`, bare]);
  const used = OPENING_CASES * (runs + 1);
  await addHeads(bare, branch, used + openCount);
  const forge = await resources.track(openContentForge(join(directory, "data"), branch));
  const { url, options } = forge.git();
  await git(bare, [...options, "push", "--quiet", "--mirror", url]);
  // As an operator would do: with bitmaps and a commit graph.
  await git(bare, ["gc", "--quiet"]);
  await git(bare, ["commit-graph", "write", "--reachable", "--changed-paths"]);

  // Before any pull request is open: what a push costs without them.
  const alone: number[] = [];
  for (let run = 1; run <= runs; run++) alone.push(await pushCommit(forge, bare, branch, run));

  const many = await open(forge, headOf.many, branch);
  const rows: string[][] = [];
  for (const one of casesOf(forge, branch, runs, many)) {
    rows.push([one.name, ...(await measure(forge, bare, one, runs))]);
    console.log(`measured: ${one.name}`);
  }
  console.log(`\n${formatCells(COLUMNS, rows)}\n`);
  // Merged in the service and in git, with commits of their own.
  const restarted = forge.git();
  const refspec = `+${branch}:${branch}`;
  await git(bare, [...restarted.options, "fetch", "--quiet", restarted.url, refspec]);

  // What fails is repeated, so that the numbers are those of `npm start`.
  forge.startSchedule();
  const rest = Array.from({ length: openCount }, (_, at) => headOf.one(used + at));
  const heads = [headOf.many, ...Array.from({ length: runs + 1 }, (_, run) => headOf.one(run))];
  const pushes = [await describePush(forge, bare, branch, heads, runs)];
  await openAll(forge, branch, rest);
  pushes.push(await describePush(forge, bare, branch, [...heads, ...rest], runs));
  const columns = ["open on the base", "push s", "checked after s", "git s", "ratio"];
  console.log(formatCells(columns, [["0", middle(alone).toFixed(2), "-", "-", "-"], ...pushes]));
}

/** @param heads The heads of all open pull requests. */
async function describePush(
  forge: ContentForge,
  bare: string,
  base: string,
  heads: readonly string[],
  runs: number,
): Promise<string[]> {
  await untilChecked(forge, await git(bare, ["rev-parse", base]));
  const { pushSeconds, checkedSeconds } = await measurePush(forge, bare, base, runs);
  const gitSeconds = await mergeAll(bare, base, heads);
  return [
    formatInteger(heads.length),
    pushSeconds.toFixed(2),
    checkedSeconds.toFixed(2),
    gitSeconds.toFixed(2),
    (checkedSeconds / gitSeconds).toFixed(2),
  ];
}

/** Opens pull requests, some at a time, and waits until what follows from them is done. */
async function openAll(forge: ContentForge, base: string, heads: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  const left = heads.values();
  const openSome = async (): Promise<void> => {
    for (const head of left) await open(forge, head, base);
  };
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, openSome));
  await forge.untilQuiet();
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`opened ${formatInteger(heads.length)} pull requests: ${seconds.toFixed(1)} s`);
}
