import { describe, expect, it } from "vitest";

import { run } from "../../scripts/tools/run.ts";

/** Runs `npm test` on one of the samples. */
async function testSample(name: string) {
  const args = [
    "scripts/test.ts",
    "--root",
    "test/scripts/closing-line",
    "--project",
    "sample",
    name,
  ];
  // Clears the variables of the outer run: vitest would treat itself as a worker of that run.
  const env = { VITEST: "", VITEST_POOL_ID: "", VITEST_WORKER_ID: "", NODE_ENV: "" };
  const { code, output } = await run("node", args, { env });
  return { code, lastLine: output.trimEnd().split("\n").at(-1) };
}

describe("the last line of npm test", () => {
  it.each([
    ["passing", 0, "1 passed, 0 failed"],
    ["mixed", 1, "2 passed, 1 failed, 2 skipped"],
    ["unloadable", 1, "0 passed, 1 failed"],
    ["rejecting", 1, "1 passed, 1 failed"],
    ["of-no-such-name", 1, "0 passed, 1 failed"],
  ])("counts the tests of a run that is %s", async (name, code, lastLine) => {
    expect(await testSample(name)).toEqual({ code, lastLine });
  });
});
