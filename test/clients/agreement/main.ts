/**
 * `npm run agreement -- <repository>`: pushes a repository to a fresh service, and compares the
 * responses of the API with git's output, for samples of its commits and paths.
 *
 * `--samples 20` sets the number of samples of each kind; `--seed 7` selects others;
 * `--only diff,tree` runs these comparisons only. Exits with code 1 if there is a difference.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { openEdgeforge } from "../../../bench/git/edgeforge.ts";
import { numberOption, refusingUnknown } from "../../../bench/support/options.ts";
import { withResources } from "../../../bench/support/resources.ts";
import { buildAssets } from "../../../scripts/build/assets.ts";
import { buildWorker } from "../../../scripts/build/worker.ts";
import { Refusal } from "../../../scripts/refusal.ts";
import { COMPARISONS, type Differences } from "./comparisons.ts";
import { openSource } from "./source.ts";

await withResources(async (resources) => {
  const { repository, samples, seed, only } = readOptions(process.argv.slice(2));
  await buildAssets();
  await buildWorker();
  const forge = await resources.track(openEdgeforge(resources.directory));
  const url = await forge.create("sample", "main");
  const source = await openSource(repository, seed);
  await source.push(url, forge.writeOptions);
  console.log(`${repository}: ${source.commits.length} commits, seed ${seed}`);

  let differing = 0;
  for (const [name, compare] of Object.entries(COMPARISONS)) {
    if (only && !only.includes(name)) continue;
    const differences: Differences = { count: 0, all: [] };
    try {
      await compare({ source, url: apiUrl(url), samples, differences });
    } catch (error) {
      differences.all.push(String(error));
    }
    console.log(`${name}: ${differences.count} compared, ${differences.all.length} differ`);
    for (const text of differences.all.slice(0, 5)) console.log(`  ${text}`);
    differing += differences.all.length;
  }
  if (differing > 0) process.exitCode = 1;
});

function apiUrl(cloneUrl: string): string {
  const { origin, pathname } = new URL(cloneUrl);
  return `${origin}/api/v1/repos${pathname.replace(/\.git$/, "")}`;
}

function readOptions(args: string[]) {
  return refusingUnknown(() => {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        samples: { type: "string", default: "20" },
        seed: { type: "string", default: "1" },
        only: { type: "string" },
      },
    });
    const [repository] = positionals;
    if (repository === undefined)
      throw new Refusal("missing argument: the directory of a repository");
    return {
      repository: resolve(repository),
      samples: Math.round(numberOption("--samples", values.samples, 1, 10_000)),
      seed: numberOption("--seed", values.seed, 0, 2 ** 31),
      only: values.only?.split(","),
    };
  });
}
