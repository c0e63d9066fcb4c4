import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import { PATCHES, patchImportModule } from "../../../scripts/build/plugin-patches.ts";
import { inProject } from "../../../scripts/project.ts";

const MODULE =
  "node_modules/@cloudflare/vitest-plugin/dist/worker/lib/cloudflare/test-internal.mjs";

/** The patched function alone, with the module runner that it asks and the trip that it may spare. */
async function importer(runner: object) {
  const source = patchImportModule(await readFile(inProject(MODULE), "utf8"));
  const from = source.indexOf("async function importModule(");
  const text = source.slice(from, source.indexOf("\n}\n", from) + 2);
  const trips: string[] = [];
  const runInRunnerObject = (callback: () => unknown) => {
    trips.push("trip");
    return callback();
  };
  // oxlint-disable-next-line typescript/no-implied-eval -- the function stands in a module that only workerd loads
  const open = new Function(
    "__vitest_mocker__",
    "runInRunnerObject",
    `${text} return importModule;`,
  );
  return { trips, importModule: open({ moduleRunner: runner }, runInRunnerObject) };
}

describe("the patch of the Vitest plugin", () => {
  it("takes a module that the runner has without a trip to the object that runs the tests", async () => {
    const exports = { default: {} };
    const evaluatedModules = { getModuleById: () => ({ evaluated: true, exports }) };
    const { importModule, trips } = await importer({ evaluatedModules });

    expect(await importModule("/worker.ts")).toBe(exports);
    expect(trips).toEqual([]);
  });

  it.each([
    ["is not there", undefined],
    ["is being evaluated", { evaluated: false, exports: {} }],
  ])("imports one that %s as the plugin does", async (_, module) => {
    const exports = { default: {} };
    const evaluatedModules = { getModuleById: () => module };
    const { importModule, trips } = await importer({ evaluatedModules, import: () => exports });

    expect(await importModule("/worker.ts")).toBe(exports);
    expect(trips).toEqual(["trip"]);
  });

  it.each([
    ["another function", "async function importWorker(specifier) {\n}\n"],
    ["another import", "async function importModule(specifier) {\n\treturn imported;\n}\n"],
    ["nothing", ""],
  ])("is refused where the plugin has %s", (_, source) => {
    expect(() => patchImportModule(source)).toThrow("see whether the patch is still needed");
  });
});

describe("the patches", () => {
  it.each(PATCHES.map((each) => [each.module, each.patch] as const))(
    "fit the plugin as it is installed, and change nothing else: %s",
    async (module, patch) => {
      const source = await readFile(
        inProject(`node_modules/@cloudflare/vitest-plugin/${module}`),
        "utf8",
      );
      const lines = new Set(source.split("\n"));
      const kept = patch(source)
        .split("\n")
        .filter((line) => lines.has(line));
      expect(kept.join("\n")).toBe(source);
    },
  );
});

describe("the module runner", () => {
  it("knows modules by what the patch asks for", async () => {
    const { EvaluatedModules } = await import(
      pathToFileURL(inProject("node_modules/vite/dist/node/module-runner.js")).href
    );
    const modules = new EvaluatedModules();
    modules.ensureModule("/worker.ts", "/worker.ts");
    expect(modules.getModuleById("/worker.ts")).toMatchObject({ evaluated: false });
  });
});
