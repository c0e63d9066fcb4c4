import { expect, it } from "vitest";

import { run } from "../../scripts/tools/run.ts";

/** Loads the guard in a process that takes itself for another Node. */
function runOn(version: string) {
  const disguise = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
  const disguised = ["--import", `data:text/javascript,${disguise}`];
  return run("node", [...disguised, "--import", "./scripts/node-version.js", "-e", "0"]);
}

it("says in one line what to do on an older Node", async () => {
  const { code, output } = await runOn("20.19.4");

  expect(code).toBe(1);
  expect(output).toMatch(
    /^Edgeforge's scripts need Node 22\.18 or later and this is 20\.19\.4: .*\n$/,
  );
});

it("is silent on a Node that reads TypeScript", async () => {
  expect(await runOn("22.18.0")).toEqual({ code: 0, output: "" });
});
