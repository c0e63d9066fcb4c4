/**
 * `npm run bench:profile`: where the CPU time of a request of each door goes.
 *
 * Profiles the service of `npm start` with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../scripts/project.ts";
import { DEFAULT_CACHE } from "./git/options.ts";
import { makeSource } from "./git/source.ts";
import { parseOptions } from "./profile/options.ts";
import { formatShares } from "./profile/report.ts";
import { type Cost, openVersion, type Version } from "./profile/version.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { seconds, rounds, before, pushed } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  const projects = before === undefined ? [projectRoot] : [before, projectRoot];
  const versions: Version[] = [];
  for (const [at, project] of projects.entries()) {
    const own = join(directory, String(at));
    mkdirSync(own);
    versions.push(await track(openVersion(project, own)));
  }
  const show = async (name: string, measure: (version: Version) => Promise<Cost>) => {
    const costs: Cost[][] = versions.map(() => []);
    // The first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [at, version] of versions.entries()) {
        const cost = await measure(version);
        if (round > 0) costs[at]?.push(cost);
      }
    }
    console.log(`\n${formatShares(name, costs)}`);
  };
  for (const size of pushed) {
    const source = await makeSource(size, DEFAULT_CACHE, directory);
    await show(`push of ${size}`, ({ measurePush }) => measurePush(source));
  }
  if (pushed.length > 0) return;
  for (const [at, { name }] of versions[0]?.doors.entries() ?? []) {
    await show(name, ({ doors, measure }) => {
      const door = doors[at];
      if (!door) throw new Error("the versions have different doors");
      return measure(door, seconds);
    });
  }
}
