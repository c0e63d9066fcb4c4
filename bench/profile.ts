/**
 * `npm run bench:profile`: where the CPU time of a request of each door goes.
 *
 * Profiles the service of `npm start` with its state in a temporary directory. bench/README.md explains the numbers.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../scripts/project.ts";
import { parseOptions } from "./profile/options.ts";
import { formatShares } from "./profile/report.ts";
import { type Cost, openVersion } from "./profile/version.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { seconds, rounds, before } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  const projects = before === undefined ? [projectRoot] : [before, projectRoot];
  const versions = [];
  for (const [at, project] of projects.entries()) {
    const own = join(directory, String(at));
    mkdirSync(own);
    versions.push(await track(openVersion(project, own)));
  }
  const names = versions[0]?.doors.map(({ name }) => name) ?? [];
  for (const [at, name] of names.entries()) {
    const costs: Cost[][] = versions.map(() => []);
    // The first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [version, { doors, measure }] of versions.entries()) {
        const door = doors[at];
        if (!door) throw new Error("the versions have different doors");
        const cost = await measure(door, seconds);
        if (round > 0) costs[version]?.push(cost);
      }
    }
    console.log(`\n${formatShares(name, costs)}`);
  }
}
