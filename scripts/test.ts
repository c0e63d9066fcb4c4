/**
 * `npm test`: runs the tests in Node and in workerd, in two processes of one worker each, since two
 * workers of one process share no loaded modules. Other arguments than these are passed to vitest,
 * which then runs in one process and shows its progress:
 *
 * - `--project` selects other projects than these two.
 * - `--watch` reruns changed tests until it is stopped.
 * - `--record` writes the work of requests into test/work.json.
 * - `--slowest` prints the slowest files, by processor time.
 * - `--deep` (`npm run test:deep`) runs the files that else take a sample of their cases, with all
 *   cases and on the simulator of D1. They are divided into six parts; `--parts=<number>` runs as
 *   many, chosen by the seed.
 *
 * A run that passes prints its last line only: the counts, for people and for scripts, and before
 * it the seed of the samples, which EDGEFORGE_TEST_SEED repeats.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildAssets } from "./build/assets.ts";
import { buildVitestPlugin } from "./build/vitest-plugin.ts";
import { inProject } from "./project.ts";
import { runScript } from "./refusal.ts";
import { sampledFiles } from "./test/sampled-files.ts";
import {
  closingLine,
  mergeReports,
  parseReport,
  type RunReport,
  slowestFiles,
} from "./test/tally.ts";
import { readWorks, recordedWorks, writeWorks } from "./test/work.ts";
import { run, show } from "./tools/run.ts";

/** The report of a process that ended without one: a failure, regardless of its exit code. */
const missingReport: RunReport = {
  tally: { passed: 0, failed: 1, skipped: 0 },
  cpuMs: {},
  failedFiles: [],
  works: {},
};

const PROCESSES = 2;

/** Parts of a run of all cases, of which a few files take most of the time. */
const SHARDS_DEEP = 6;

const OWN_ARGS = ["--record", "--slowest", "--deep"];
const PARTS = "--parts=";

await runScript(async () => {
  await buildAssets();
  await buildVitestPlugin();

  const args = process.argv.slice(2);
  const [isRecording, isSlowest, isDeep] = OWN_ARGS.map((name) => args.includes(name));
  const parts = Number(args.find((arg) => arg.startsWith(PARTS))?.slice(PARTS.length) ?? Infinity);
  const vitestArgs = args.filter((arg) => !OWN_ARGS.includes(arg) && !arg.startsWith(PARTS));
  if (vitestArgs.includes("--watch")) {
    const rest = vitestArgs.filter((arg) => arg !== "--watch");
    process.exitCode = await show("vitest", ["watch", ...projectsOf(rest), ...rest]);
    return;
  }

  const seed = process.env["EDGEFORGE_TEST_SEED"] ?? String(Math.floor(Math.random() * 1e6));
  const env = {
    EDGEFORGE_TEST_SEED: seed,
    ...(isRecording && { EDGEFORGE_TEST_RECORD: "1" }),
    ...(isDeep && { EDGEFORGE_TEST_ALL: "1", EDGEFORGE_TEST_DATABASE: "d1" }),
  };
  const reports =
    vitestArgs.length === 0
      ? await (isDeep
          ? runShards(SHARDS_DEEP, sampledFiles(), env, { first: Number(seed), parts })
          : runShards(PROCESSES, [], env))
      : [await runVitest(["--reporter", "default", ...vitestArgs], env)];
  const report = mergeReports(reports);
  if (isRecording) await writeWorks(recordedWorks(await readWorks(), report));
  if (isSlowest) console.log(slowestFiles(report));
  console.log(`seed ${seed}`);
  console.log(closingLine(report.tally));
  if (report.tally.failed > 0) process.exitCode = 1;
});

/** The default projects, unless the arguments select some. */
function projectsOf(args: readonly string[]): string[] {
  const hasProject = args.some((arg) => arg.startsWith("--project"));
  return hasProject ? [] : ["--project", "node", "--project", "worker"];
}

/**
 * How many files of these projects run at a time. Tests of the scripts wait for processes most of
 * their time; clients share one service, and two workers of one process would share no loaded
 * modules of the Worker.
 */
function workersOf(args: readonly string[]): number {
  const projects = args.filter((_, at) => args[at - 1] === "--project");
  return projects.length > 0 && projects.every((name) => name === "scripts") ? 2 : 1;
}

type Env = Record<string, string>;

/** Runs one vitest, and prints its output only if it fails. */
async function runQuietly(args: string[], env: Env): Promise<number> {
  const { code, output } = await run("vitest", args, { env });
  if (code !== 0) console.log(output);
  return code;
}

function showProgress(args: string[], env: Env): Promise<number> {
  return show("vitest", args, { env });
}

/**
 * Runs parts of the files, as many at a time as there are processes.
 *
 * @param count How many parts there are.
 * @param chosen The number of parts to run, from one of them on; by default all.
 */
async function runShards(
  count: number,
  files: readonly string[],
  env: Env,
  { first, parts } = { first: 0, parts: Infinity },
): Promise<RunReport[]> {
  const reports: RunReport[] = [];
  const waiting = Array.from({ length: Math.min(count, parts) }, (_, at) => {
    return ((first + at) % count) + 1;
  });
  const work = async () => {
    for (let shard = waiting.shift(); shard !== undefined; shard = waiting.shift()) {
      const args = ["--reporter", "minimal", "--shard", `${shard}/${count}`, ...files];
      reports.push(await runVitest(args, env, runQuietly));
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, work));
  return reports;
}

/** Runs one vitest to its end. */
async function runVitest(
  args: readonly string[],
  env: Env,
  start = showProgress,
): Promise<RunReport> {
  const reporter = ["--reporter", inProject("scripts/test/tally-reporter.ts")];
  // Through a file, because vitest may still print after its reporters.
  const directory = await mkdtemp(join(tmpdir(), "edgeforge-test-"));
  const file = join(directory, "report.json");
  try {
    const workers = `--maxWorkers=${workersOf(args)}`;
    const command = ["run", ...projectsOf(args), workers, ...reporter, ...args];
    const code = await start(command, { ...env, EDGEFORGE_TALLY: file });
    const report = parseReport(await readFile(file, "utf8").catch(() => "")) ?? missingReport;
    // vitest also fails for other reasons than a test: an unhandled error, a hook, a threshold.
    const isUncounted = code !== 0 && report.tally.failed === 0;
    return isUncounted ? { ...report, tally: { ...report.tally, failed: 1 } } : report;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
