import { expect, it } from "vitest";

import { run } from "../../scripts/tools/run.ts";

/** Loads the guard in a process that reports another Node version. */
function runOn(version: string) {
  const override = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
  const imports = ["--import", `data:text/javascript,${override}`];
  return run("node", [...imports, "--import", "./scripts/node-version.js", "-e", "0"]);
}

it("prints one line with an instruction on an older Node", async () => {
  const { code, output } = await runOn("20.19.4");

  expect(code).toBe(1);
  expect(output).toMatch(
    /^Edgeforge's scripts need Node 22\.18 or later and this is 20\.19\.4: .*\n$/,
  );
});

it("prints nothing on a Node that runs TypeScript", async () => {
  expect(await runOn("22.18.0")).toEqual({ code: 0, output: "" });
});
