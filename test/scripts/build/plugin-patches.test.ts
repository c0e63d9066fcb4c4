import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import { PATCHES, patchImportModule } from "../../../scripts/build/plugin-patches.ts";
import { inProject } from "../../../scripts/project.ts";

const MODULE =
  "node_modules/@cloudflare/vitest-plugin/dist/worker/lib/cloudflare/test-internal.mjs";

/**
 * The patched function alone, with a module runner and a record of the trips to the runner object.
 */
async function importer(runner: object) {
  const source = patchImportModule(await readFile(inProject(MODULE), "utf8"));
  const from = source.indexOf("async function importModule(");
  const text = source.slice(from, source.indexOf("\n}\n", from) + 2);
  const trips: string[] = [];
  const runInRunnerObject = (callback: () => unknown) => {
    trips.push("trip");
    return callback();
  };
  // oxlint-disable-next-line typescript/no-implied-eval -- the function is in a module that only workerd loads
  const open = new Function(
    "__vitest_mocker__",
    "runInRunnerObject",
    `${text} return importModule;`,
  );
  return { trips, importModule: open({ moduleRunner: runner }, runInRunnerObject) };
}

describe("the patch of the Vitest plugin", () => {
  it("returns a loaded module without a trip to the object that runs the tests", async () => {
    const exports = { default: {} };
    const evaluatedModules = { getModuleById: () => ({ evaluated: true, exports }) };
    const { importModule, trips } = await importer({ evaluatedModules });

    expect(await importModule("/worker.ts")).toBe(exports);
    expect(trips).toEqual([]);
  });

  it.each([
    ["is not loaded", undefined],
    ["is being evaluated", { evaluated: false, exports: {} }],
  ])("imports a module that %s as the plugin does", async (_, module) => {
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
  ])("fails if the plugin has %s", (_, source) => {
    expect(() => patchImportModule(source)).toThrow("check whether the patch is still needed");
  });
});

describe("the patches", () => {
  it.each(PATCHES.map((each) => [each.module, each.patch] as const))(
    "apply to the installed plugin, and keep all of its lines: %s",
    async (module, patch) => {
      const source = await readFile(
        inProject(`node_modules/@cloudflare/vitest-plugin/${module}`),
        "utf8",
      );
      const lines = new Set(source.split("\n"));
      const original = patch(source)
        .split("\n")
        .filter((line) => lines.has(line));
      expect(original.join("\n")).toBe(source);
    },
  );
});

describe("the module runner", () => {
  it("finds modules by the path that the patch passes", async () => {
    const { EvaluatedModules } = await import(
      pathToFileURL(inProject("node_modules/vite/dist/node/module-runner.js")).href
    );
    const modules = new EvaluatedModules();
    modules.ensureModule("/worker.ts", "/worker.ts");
    expect(modules.getModuleById("/worker.ts")).toMatchObject({ evaluated: false });
  });
});
