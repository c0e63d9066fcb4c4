/**
 * `npm test`: runs the tests in Node and in workerd, in two processes of one worker each, since two
 * workers of one process share no loaded modules. Arguments are passed to vitest, which then runs
 * in one process; `--project` selects the projects. `--watch` reruns changed tests until it is
 * stopped, `--record` writes the costs of the files into test/ledger.json, and the work of requests
 * into test/work.json.
 *
 * The last line contains the counts, for people and for scripts: `12 passed, 0 failed`.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildAssets } from "./build/assets.ts";
import { buildVitestPlugin } from "./build/vitest-plugin.ts";
import { inProject } from "./project.ts";
import { runScript } from "./refusal.ts";
import {
  type Costs,
  findOverruns,
  findUnknown,
  LEDGER,
  type Overrun,
  readLedger,
  recordedCosts,
  writeLedger,
} from "./test/ledger.ts";
import { slowestFiles } from "./test/slowest-files.ts";
import { closingLine, parseReport, mergeReports, type RunReport } from "./test/tally.ts";
import { readWorks, recordedWorks, writeWorks } from "./test/work.ts";
import { show } from "./tools/run.ts";

/** The report of a process that ended without one: a failure, regardless of its exit code. */
const missingReport: RunReport = {
  tally: { passed: 0, failed: 1, skipped: 0 },
  costs: {},
  failedFiles: [],
  works: {},
};

const PROCESSES = 2;

await runScript(async () => {
  await buildAssets();
  await buildVitestPlugin();

  const args = process.argv.slice(2);
  const isRecording = args.includes("--record");
  const vitestArgs = args.filter((arg) => arg !== "--record");
  if (vitestArgs.includes("--watch")) {
    const command = [
      "watch",
      ...projectsOf(vitestArgs),
      ...vitestArgs.filter((arg) => arg !== "--watch"),
    ];
    process.exitCode = await show("vitest", command);
    return;
  }

  const isFullRun = vitestArgs.length === 0;
  const reports = await Promise.all(
    isFullRun
      ? Array.from({ length: PROCESSES }, (_, at) =>
          runVitest(["--reporter", "minimal", "--shard", `${at + 1}/${PROCESSES}`], isRecording),
        )
      : [runVitest(["--reporter", "default", ...vitestArgs], isRecording)],
  );
  const run = mergeReports(reports);
  const { tally, costs } = run;
  if (isFullRun) console.log(slowestFiles(costs));

  const ledger = await readLedger();
  if (isRecording) {
    await writeLedger(recordedCosts(ledger, run, isFullRun));
    await writeWorks(recordedWorks(await readWorks(), run));
  }
  // With all values instead of rotating ones, tests make more calls than the ledger knows.
  const hasOtherCosts = isRecording || process.env["EDGEFORGE_TEST_ALL"] === "1";
  const overruns = hasOtherCosts ? [] : await confirmOverruns(ledger, findOverruns(ledger, costs));
  for (const { message } of overruns) console.log(message);
  const unknown = isRecording ? [] : findUnknown(ledger, costs);
  for (const file of unknown) console.log(`${file} is not in ${LEDGER}`);
  if (overruns.length + unknown.length > 0) {
    console.log(`\`npm test -- --record <file>…\` writes their costs into ${LEDGER}.`);
  }
  const failed = tally.failed + overruns.length;
  console.log(closingLine({ ...tally, failed }));
  if (failed > 0) process.exitCode = 1;
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

/**
 * Runs the files once more and returns the overruns that repeat, also where a file runs alone: in a
 * run of many files, calls by background jobs of one file may count for the next.
 */
async function confirmOverruns(ledger: Costs, overruns: readonly Overrun[]): Promise<Overrun[]> {
  const confirmed: Overrun[] = [];
  let files = filesOf(overruns);
  if (files.length > 1) {
    // Together first: most don't repeat, and each start of the Worker takes as long as several
    // files.
    const { tally, costs } = await runVitest(["--reporter", "minimal", ...files]);
    if (tally.failed === 0) files = filesOf(findOverruns(ledger, costs));
  }
  for (const file of files) {
    const { tally, costs } = await runVitest(["--reporter", "minimal", file]);
    const message = `${file} failed when its D1 calls were counted again`;
    if (tally.failed > 0) confirmed.push({ file, message });
    confirmed.push(...findOverruns(ledger, costs));
  }
  return confirmed;
}

function filesOf(overruns: readonly Overrun[]): string[] {
  return [...new Set(overruns.map(({ file }) => file))];
}

/** Runs one vitest to its end. */
async function runVitest(args: readonly string[], isRecording = false): Promise<RunReport> {
  const reporter = ["--reporter", inProject("scripts/test/tally-reporter.ts")];
  // Through a file, because vitest may still print after its reporters.
  const directory = await mkdtemp(join(tmpdir(), "edgeforge-test-"));
  const file = join(directory, "report.json");
  try {
    const workers = `--maxWorkers=${workersOf(args)}`;
    const command = ["run", ...projectsOf(args), workers, ...reporter, ...args];
    const env = { EDGEFORGE_TALLY: file, ...(isRecording && { EDGEFORGE_TEST_RECORD: "1" }) };
    const code = await show("vitest", command, { env });
    const report = parseReport(await readFile(file, "utf8").catch(() => "")) ?? missingReport;
    // vitest also fails for other reasons than a test: an unhandled error, a hook, a threshold.
    const isUncounted = code !== 0 && report.tally.failed === 0;
    return isUncounted ? { ...report, tally: { ...report.tally, failed: 1 } } : report;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
