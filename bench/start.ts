/**
 * `npm run bench:start -- --gitea <program>`: the time of a start and the memory of an idle
 * service, beside a Gitea.
 *
 * Each round starts `npm start` with a new state, again with the same state, and Gitea with a
 * state that exists. Times are from the start of the process to its first answer; memory is that
 * of all its processes after a while without requests. The Worker is built before: a first start
 * after a change builds it, too.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { show } from "../scripts/tools/run.ts";
import { openGitea } from "./peer/gitea.ts";
import { describeMachine } from "./support/machine.ts";
import { numberOption, refusingUnknown } from "./support/options.ts";
import { treeResidentBytes } from "./support/process-tree.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openStartedService } from "./support/started-service.ts";
import { median } from "./support/statistics.ts";
import { formatCells } from "./support/table.ts";

/** How long a service is left alone before its memory is read. */
const IDLE_MS = 5000;

/** Seconds to the first answer, and resident megabytes. */
type Measured = { seconds: number; megabytes: number };

/** A service that has started. */
type Started = { pid: () => number; close: () => Promise<void> };

await withResources(bench);

async function bench({ directory, track, release }: Resources): Promise<void> {
  const { rounds, gitea: program, giteaStatic } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  await show("node", ["--import", "./scripts/node-version.js", "scripts/build/service.ts"]);

  const measure = async (open: () => Promise<Started>): Promise<Measured> => {
    const from = performance.now();
    const service = await track(open());
    const seconds = (performance.now() - from) / 1000;
    await pause(IDLE_MS);
    const megabytes = treeResidentBytes(service.pid()) / 1e6;
    await release(service);
    return { seconds, megabytes };
  };
  const peer =
    program === undefined
      ? undefined
      : await track(openGitea(join(directory, "gitea"), { gitea: program, giteaStatic }));
  if (peer) await release(peer);

  const measured: Record<string, Measured[]> = { first: [], later: [], gitea: [] };
  for (let round = 0; round < rounds; round++) {
    const data = join(directory, `data-${round}`);
    measured["first"]?.push(await measure(() => openStartedService(data)));
    measured["later"]?.push(await measure(() => openStartedService(data)));
    if (peer) measured["gitea"]?.push(await measure(peer.start));
  }

  const of = (name: string, key: keyof Measured): number =>
    median((measured[name] ?? []).map((each) => each[key]));
  const [peerSeconds, peerMegabytes] = [of("gitea", "seconds"), of("gitea", "megabytes")];
  const row = (title: string, value: number, beside: number): string[] => [
    title,
    value.toFixed(1),
    peer ? beside.toFixed(1) : "-",
    peer ? (value / beside).toFixed(1) : "-",
  ];
  console.log(`medians of ${rounds} rounds\n`);
  console.log(
    formatCells(
      ["", "Edgeforge", "Gitea", "ratio"],
      [
        row("first start, s", of("first", "seconds"), peerSeconds),
        row("later start, s", of("later", "seconds"), peerSeconds),
        row("idle memory, MB", of("later", "megabytes"), peerMegabytes),
      ],
    ),
  );
}

/** @throws Refusal with the name of the option and its allowed values. */
function parseOptions(args: string[]): {
  rounds: number;
  gitea: string | undefined;
  giteaStatic: string | undefined;
} {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        gitea: { type: "string" },
        "gitea-static": { type: "string" },
        rounds: { type: "string", default: "5" },
      },
    });
    return {
      rounds: Math.round(numberOption("--rounds", values.rounds, 1, 100)),
      gitea: values.gitea,
      giteaStatic: values["gitea-static"],
    };
  });
}
