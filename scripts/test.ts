/**
 * `npm test`: the tests in Node and in workerd. Arguments are passed on to vitest; with `--project`
 * among them, they say which projects run.
 *
 * The last line counts, for people and for scripts: `12 passed, 0 failed`.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildAssets } from "./build/assets.ts";
import { inProject } from "./project.ts";
import { tell } from "./refusal.ts";
import { closingLine, parseTally, type Tally } from "./test/tally.ts";
import { show } from "./tools/run.ts";

/** Of a run that ended before it could count: a failure, whatever the exit code says. */
const noTally: Tally = { passed: 0, failed: 1, skipped: 0 };

await tell(async () => {
  await buildAssets();

  const args = process.argv.slice(2);
  const isChosen = args.some((arg) => arg.startsWith("--project"));
  const projects = isChosen ? [] : ["--project", "node", "--project", "worker"];
  const reporters = [
    "--reporter",
    "default",
    "--reporter",
    inProject("scripts/test/tally-reporter.ts"),
  ];

  // Through a file, because vitest may still speak after its reporters have.
  const directory = await mkdtemp(join(tmpdir(), "edgeforge-test-"));
  const file = join(directory, "tally.json");
  try {
    const env = { EDGEFORGE_TALLY: file };
    const code = await show("vitest", ["run", ...projects, ...reporters, ...args], { env });
    const tally = parseTally(await readFile(file, "utf8").catch(() => "")) ?? noTally;
    // vitest also fails for what is no test: an unhandled error, a hook, a threshold.
    const isUncounted = code !== 0 && tally.failed === 0;
    console.log(closingLine(isUncounted ? { ...tally, failed: 1 } : tally));
    process.exitCode = code === 0 && tally.failed > 0 ? 1 : code;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
