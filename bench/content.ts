/**
 * `npm run bench:content`: response times of the API for git data, compared with git on the bare
 * repository.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { casesOf, findSamples } from "./content/cases.ts";
import { openContentForge } from "./content/forge.ts";
import { COLUMNS, measure } from "./content/measure.ts";
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
  const remote = forge.git();
  await git(bare, [...remote.options, "push", "--quiet", "--mirror", remote.url]);
  // As an operator would do: with bitmaps and a commit graph.
  await git(bare, ["gc", "--quiet"]);
  await git(bare, ["commit-graph", "write", "--reachable", "--changed-paths"]);

  const samples = await findSamples(bare, source.branch);
  console.log(
    `${size}: ${formatInteger(samples.commits)} commits, ${formatInteger(samples.entries)} entries; ${samples.oldFile}; ${samples.distantBranch}\n`,
  );
  const rows: string[][] = [];
  for (const one of casesOf(samples)) {
    rows.push([one.name, ...(await measure(forge, bare, one, runs))]);
    console.log(`measured: ${one.name}`);
  }
  console.log(`\n${formatCells(COLUMNS, rows)}`);
}
