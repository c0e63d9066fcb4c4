/**
 * `npm test`: the tests in Node and in workerd, in two processes of one worker each, since two workers of one
 * process share nothing that is loaded. Arguments are passed on to vitest, in one process then; with `--project`
 * among them, they say which projects run. `--watch` runs what changed until it is stopped, `--record` writes
 * what the files took into test/ledger.json.
 *
 * The last line counts, for people and for scripts: `12 passed, 0 failed`.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildAssets } from "./build/assets.ts";
import { buildVitestPlugin } from "./build/vitest-plugin.ts";
import { inProject } from "./project.ts";
import { tell } from "./refusal.ts";
import { findOverruns, findUnknown, LEDGER, readLedger, writeLedger } from "./test/ledger.ts";
import { slowestFiles } from "./test/slowest-files.ts";
import { closingLine, parseAccount, sumUp, type Account } from "./test/tally.ts";
import { show } from "./tools/run.ts";

/** Of a process that ended before it could count: a failure, whatever its exit code says. */
const noAccount: Account = { tally: { passed: 0, failed: 1, skipped: 0 }, costs: {} };

const PROCESSES = 2;

await tell(async () => {
  await buildAssets();
  await buildVitestPlugin();

  const args = process.argv.slice(2);
  const isRecording = args.includes("--record");
  const chosen = args.filter((arg) => arg !== "--record");
  if (chosen.includes("--watch")) {
    const command = ["watch", ...projectsOf(chosen), ...chosen.filter((arg) => arg !== "--watch")];
    process.exitCode = await show("vitest", command);
    return;
  }

  const isWhole = chosen.length === 0;
  const accounts = await Promise.all(
    isWhole
      ? Array.from({ length: PROCESSES }, (_, at) =>
          runVitest(["--reporter", "minimal", "--shard", `${at + 1}/${PROCESSES}`]),
        )
      : [runVitest(["--reporter", "default", ...chosen])],
  );
  const { tally, costs } = sumUp(accounts);
  if (isWhole) console.log(slowestFiles(costs));

  const ledger = await readLedger();
  if (isRecording) await writeLedger(isWhole ? costs : { ...ledger, ...costs });
  const overruns = isRecording ? [] : findOverruns(ledger, costs);
  for (const overrun of overruns) console.log(overrun);
  const unknown = isRecording ? [] : findUnknown(ledger, costs);
  for (const file of unknown) console.log(`${file} is not in ${LEDGER}`);
  if (overruns.length + unknown.length > 0) {
    console.log(`\`npm test -- --record <file>…\` writes what they take into ${LEDGER}.`);
  }
  const failed = tally.failed + overruns.length;
  console.log(closingLine({ ...tally, failed }));
  if (failed > 0) process.exitCode = 1;
});

/** The projects that run where nobody says which. */
function projectsOf(args: readonly string[]): string[] {
  const isChosen = args.some((arg) => arg.startsWith("--project"));
  return isChosen ? [] : ["--project", "node", "--project", "worker"];
}

/** Runs one vitest to its end. */
async function runVitest(args: readonly string[]): Promise<Account> {
  const reporter = ["--reporter", inProject("scripts/test/tally-reporter.ts")];
  // Through a file, because vitest may still speak after its reporters have.
  const directory = await mkdtemp(join(tmpdir(), "edgeforge-test-"));
  const file = join(directory, "account.json");
  try {
    const command = ["run", ...projectsOf(args), "--maxWorkers=1", ...reporter, ...args];
    const code = await show("vitest", command, { env: { EDGEFORGE_TALLY: file } });
    const account = parseAccount(await readFile(file, "utf8").catch(() => "")) ?? noAccount;
    // vitest also fails for what is no test: an unhandled error, a hook, a threshold.
    const isUncounted = code !== 0 && account.tally.failed === 0;
    return isUncounted ? { ...account, tally: { ...account.tally, failed: 1 } } : account;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
