/**
 * `npm run bench:agents`: sessions of agents by tools, beside the same steps by the API. Each
 * makes a repository from a template, reads ten files, commits a change, and opens and merges a
 * pull request.
 *
 * Runs the service as `npm start` does, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { join } from "node:path";

import { parseOptions } from "./agents/options.ts";
import { byApi, byTools, pathOf, READS, type Steps, type Target } from "./agents/session.ts";
import { openSide } from "./peer/side.ts";
import { describeMachine } from "./support/machine.ts";
import { treeCpuSeconds } from "./support/process-tree.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { openStartedService } from "./support/started-service.ts";
import { percentile } from "./support/statistics.ts";
import { formatCells } from "./support/table.ts";

/** Groups into which the sessions of a side are divided, which take turns with the other's. */
const TURNS = 10;

/** The files of the template are committed by as many at once. */
const FILES_AT_ONCE = 500;

/** What is measured of a side. */
type Measured = {
  /** The times of each step, in milliseconds. */
  durations: Record<keyof Steps, number[]>;
  cpuSeconds: number;
};

async function bench({ directory, track }: Resources): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  console.log(describeMachine());
  const service = await track(openStartedService(join(directory, "data")));
  const administrator = { name: "root", password: service.password };
  const side = await openSide({
    name: "Edgeforge",
    origin: new URL(service.origin),
    pid: service.pid,
    administrator,
  });
  const target = await makeTemplate(options.files);
  const sides = [
    { steps: byTools(target), measured: nothing() },
    { steps: byApi(target), measured: nothing() },
  ] as const;
  const turnSessions = Math.ceil(options.sessions / TURNS);
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [at, { steps, measured }] of sides.entries()) {
      const names = Array.from({ length: turnSessions }, (_, n) => `s-${at}-${turn}-${n}`);
      const cpu = treeCpuSeconds(service.pid());
      await Promise.all(
        Array.from({ length: options.concurrency }, async () => {
          for (let name = names.pop(); name !== undefined; name = names.pop()) {
            await runSession(steps, name, options.files, measured);
          }
        }),
      );
      measured.cpuSeconds += treeCpuSeconds(service.pid()) - cpu;
    }
  }
  side.close();
  const sessions = turnSessions * TURNS;
  const [tools, api] = sides.map((each) => each.measured);
  if (tools && api) console.log(`\n${formatTable(tools, api, sessions)}`);

  async function makeTemplate(files: number): Promise<Target> {
    const template = "template";
    await side.send("POST", "/user/repos", { name: template, auto_init: true, template: true });
    await side.send("PATCH", `/repos/root/${template}`, { template: true });
    for (let first = 0; first < files; first += FILES_AT_ONCE) {
      const count = Math.min(FILES_AT_ONCE, files - first);
      await side.send("POST", `/repos/root/${template}/contents`, {
        message: "Add files",
        files: Array.from({ length: count }, (_, at) => ({
          operation: "create",
          path: pathOf(first + at),
          content: Buffer.from(`file ${first + at}\n`.repeat(40)).toString("base64"),
        })),
      });
    }
    return { origin: service.origin, token: side.token, owner: "root", template };
  }
}

const nothing = (): Measured => ({
  durations: {
    createRepository: [],
    readFile: [],
    commitFile: [],
    createPullRequest: [],
    mergePullRequest: [],
  },
  cpuSeconds: 0,
});

async function runSession(
  steps: Steps,
  name: string,
  files: number,
  { durations }: Measured,
): Promise<void> {
  const time = async (step: keyof Steps, run: () => Promise<unknown>): Promise<void> => {
    const started = performance.now();
    await run();
    durations[step].push(performance.now() - started);
  };
  await time("createRepository", () => steps.createRepository(name));
  for (let read = 0; read < READS; read += 1) {
    const path = pathOf((read * 7) % files);
    await time("readFile", () => steps.readFile(name, path));
  }
  await time("commitFile", () => steps.commitFile(name));
  await time("createPullRequest", () => steps.createPullRequest(name));
  await time("mergePullRequest", () => steps.mergePullRequest(name));
}

function formatTable(tools: Measured, api: Measured, sessions: number): string {
  const at = ({ durations }: Measured, step: keyof Steps, share: number): number =>
    percentile(
      durations[step].toSorted((a, b) => a - b),
      share,
    );
  const rows: string[][] = [];
  for (const step of Object.keys(tools.durations) as (keyof Steps)[]) {
    for (const share of [0.5, 0.99]) {
      const cells = cellsOf(at(tools, step, share), at(api, step, share));
      rows.push([`${step}, p${share * 100} ms`, ...cells]);
    }
  }
  const cpu = [tools, api].map(({ cpuSeconds }) => (1000 * cpuSeconds) / sessions);
  rows.push(["CPU of a session, ms", ...cellsOf(cpu[0] ?? 0, cpu[1] ?? 0)]);
  return formatCells(["", "tools", "API", "ratio"], rows);
}

const cellsOf = (own: number, other: number): string[] => [
  own.toPrecision(3),
  other.toPrecision(3),
  (own / other).toFixed(2),
];

await withResources(bench);
