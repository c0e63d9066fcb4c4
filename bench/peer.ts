/**
 * `npm run bench:peer -- --gitea <program>`: the API beside a real Gitea with the same data.
 *
 * Runs the service as `npm start` does and Gitea with SQLite, both with their state in a temporary
 * directory. bench/README.md explains the numbers.
 */
import { join } from "node:path";

import { CASES } from "./peer/cases.ts";
import { type Data, layData } from "./peer/data.ts";
import { openGitea } from "./peer/gitea.ts";
import { CONNECTIONS, measureCase } from "./peer/measure.ts";
import { parseOptions } from "./peer/options.ts";
import { formatRows, type Row, summarize } from "./peer/report.ts";
import { openSide, type Side } from "./peer/side.ts";
import { describeMachine } from "./support/machine.ts";
import { openStartedService } from "./support/started-service.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { repositories, rounds, seconds, only, ...program } = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  const gitea = await track(openGitea(join(directory, "gitea"), program));
  const service = await track(openStartedService(join(directory, "data")));
  console.log(`beside Gitea ${gitea.version}`);
  const own = await openSide({
    name: "Edgeforge",
    origin: new URL(service.origin),
    pid: service.pid,
    administrator: { name: "root", password: service.password },
  });
  const peer = await openSide({ name: "Gitea", ...gitea });
  const opened: (readonly [Side, Data])[] = [];
  for (const side of [own, peer]) {
    const from = performance.now();
    opened.push([side, await layData(side, repositories)]);
    const passed = ((performance.now() - from) / 1000).toFixed(0);
    console.log(`made ${repositories} repositories by the API of ${side.name} in ${passed} s`);
  }

  const rows: Row[] = [];
  for (const one of CASES.filter(({ name }) => !only || only.includes(name))) {
    const [ownMeasured, peerMeasured] = await measureCase(opened, one, rounds, seconds);
    if (ownMeasured && peerMeasured) rows.push({ one, own: ownMeasured, peer: peerMeasured });
    console.log(`measured: ${one.name}, ${one.caller}`);
  }
  own.close();
  peer.close();
  console.log(
    `\nreq/s: ${CONNECTIONS} requests at once; p50 and p99: one at a time; medians of ${rounds} rounds of ${seconds} s\n`,
  );
  console.log(`${formatRows(rows)}\n\n${summarize(rows)}`);
}
