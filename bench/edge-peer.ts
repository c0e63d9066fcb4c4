/**
 * `npm run bench:edge-peer`: compares git of the service with alchemy's, which runs on the same
 * platform, with git as the client of both.
 *
 * Runs `npm start`, and `alchemy dev` as it is installed from npm's registry, both with their state
 * in a temporary directory.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { openAlchemy, VERSION } from "./edge-peer/alchemy.ts";
import { CASES, type Repository } from "./edge-peer/cases.ts";
import { openEdgeforge } from "./edge-peer/edgeforge.ts";
import type { EdgeForge } from "./edge-peer/forge.ts";
import { parseOptions } from "./edge-peer/options.ts";
import { formatTable, type Sample } from "./edge-peer/report.ts";
import { makeShortSource } from "./edge-peer/source.ts";
import { stopGit } from "./git/git.ts";
import { measure } from "./git/measure.ts";
import type { Source } from "./git/source.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { sizes, runs, cache } = parseOptions(process.argv.slice(2));
  console.log(`${describeMachine()}\nbeside alchemy ${VERSION}`);
  await track({ close: stopGit });
  const forges = [
    await track(openEdgeforge(join(directory, "data"))),
    await track(openAlchemy(join(directory, "alchemy"))),
  ] as const;
  for (const size of sizes) {
    const source = await makeShortSource(size, cache, directory);
    const megabytes = (source.packBytes / 1e6).toFixed(1);
    console.log(`\n${size}: ${source.objects.toLocaleString("en")} objects, ${megabytes} MB`);
    const samples: Sample[] = [];
    for (let run = 0; run < runs; run++) {
      for (const forge of run % 2 === 0 ? forges : forges.toReversed()) {
        samples.push(...(await runCases(directory, forge, source, `${size}-${run}`)));
        console.log(`measured: run ${run + 1}, ${forge.name}`);
      }
    }
    console.log(`\n${formatTable(samples, forges)}`);
  }
}

/** Runs all cases on a new repository, one after the other. */
async function runCases(
  directory: string,
  forge: EdgeForge,
  source: Source,
  name: string,
): Promise<Sample[]> {
  const repository: Repository = {
    forge,
    source,
    name,
    url: await forge.create(name, source.branch),
  };
  const samples: Sample[] = [];
  for (const { name: caseName, prepare, work, receivedBytes } of CASES) {
    const scratch = mkdtempSync(join(directory, "run-"));
    try {
      await prepare?.(repository, scratch);
      const measured = await measure(forge, () => work(repository, scratch));
      const bytes = await receivedBytes?.(scratch);
      samples.push({ caseName, forge, ...measured, bytes });
    } catch (error) {
      // A service that fails at one thing is measured at the others.
      const [reason = ""] = String(error)
        .split(/[\r\n]/)
        .slice(-1);
      console.log(`failed: ${caseName}, ${forge.name}: ${reason}`);
    }
    rmSync(scratch, { recursive: true });
    // Without its history there is nothing to measure.
    if (samples.length === 0) break;
  }
  return samples;
}
