/**
 * `npm run bench:mirrors`: the first import of a repository from a git server, a synchronization
 * that finds nothing, and one of a new commit, beside `git clone --mirror` and `git remote update`
 * from the same server in the same run.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { openEdgeforge } from "./git/edgeforge.ts";
import { git, stopGit } from "./git/git.ts";
import { openHttpBackend } from "./git/http-backend.ts";
import type { Measurement } from "./git/measure.ts";
import { copySource, makeSource } from "./git/source.ts";
import { makeMirrorCases } from "./mirrors/cases.ts";
import { parseOptions } from "./mirrors/options.ts";
import { formatReport, type Row } from "./mirrors/report.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const { sizes, repository, runs, cache } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  const { directory } = resources;
  await resources.track({ close: stopGit });
  const remote = await resources.track(openHttpBackend(join(directory, "remotes")));
  const service = await resources.track(
    openEdgeforge(join(directory, "data"), { ALLOWED_HOST_LIST: "external, loopback" }),
  );
  const rows: Row[] = [];
  for (const size of sizes) {
    const source = repository
      ? await copySource(size, repository, directory)
      : await makeSource(size, cache, directory);
    const url = await remote.create(size, source.branch);
    await git(source.path, ["push", "--quiet", "--mirror", url]);
    await remote.compact(size);
    for (const one of makeMirrorCases({ service, remote, source, url, directory })) {
      const [ours, theirs]: [Measurement[], Measurement[]] = [[], []];
      for (let run = 1; run <= runs; run++) {
        await one.prepare(run);
        // In turn, so that what else the machine does falls on both.
        theirs.push(await one.git(run));
        ours.push(await one.edgeforge(run));
      }
      rows.push({ size, name: one.name, ours, theirs });
      console.log(`measured: ${size}, ${one.name}`);
    }
  }
  console.log(`\n${formatReport(rows)}`);
}
