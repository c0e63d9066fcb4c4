import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Metafile } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

import { buildSources } from "../../../scripts/build/assets.ts";
import { bundleWorker } from "../../../scripts/build/bundle.ts";
import { IS_BUILT } from "../../../scripts/build/worker.ts";
import { run } from "../../../scripts/tools/run.ts";
import { makeDirectory } from "../support/temporary.ts";

describe("the Worker's bundle", () => {
  let metafile: Metafile;
  beforeAll(buildSources);

  it("is Wrangler's of a deployment, byte for byte", async () => {
    const [own, deployed] = [makeDirectory(), makeDirectory()];
    metafile = await bundleWorker(own, Promise.resolve());
    const args = ["deploy", "--dry-run", "--minify", "--outdir", deployed];
    const assets = ["--assets", "scripts/assets"];
    // Wrangler takes NODE_ENV, which Vitest sets, into the bundle.
    const env = { [IS_BUILT]: "1", NODE_ENV: undefined };
    const { code, output } = await run("wrangler", [...args, ...assets], { env });
    expect(code, output).toBe(0);

    const names = readdirSync(own).toSorted();
    const others = new Set(["README.md", "worker.js.map"]);
    expect(
      readdirSync(deployed)
        .filter((name) => !others.has(name))
        .toSorted(),
    ).toEqual(names);
    for (const name of names) {
      const text = readFileSync(join(deployed, name), "latin1");
      const expected = text.replace("//# sourceMappingURL=worker.js.map\n", "");
      // Not `toBe`, which would show five megabytes.
      expect(readFileSync(join(own, name), "latin1") === expected, name).toBe(true);
    }
  });

  // The keys of the aliases are relative paths: a module of the same name in another package would
  // be replaced too.
  it("replaces Drizzle's entity.js and zod's locales, and no other module", () => {
    const importersOf = (file: string): string[] =>
      Object.entries(metafile.inputs).flatMap(([name, { imports }]) =>
        imports.some(({ path }) => path.endsWith(file)) ? [name] : [],
      );
    const replacement = "src/db/drizzle-entity.ts";
    const importers = importersOf(replacement);

    expect(importersOf("node_modules/drizzle-orm/entity.js")).toEqual([replacement]);
    expect(importers).toContain("node_modules/drizzle-orm/column.js");
    expect(importers.filter((name) => !name.includes("node_modules/drizzle-orm/"))).toEqual([]);

    expect(importersOf("zod/v4/locales/de.js")).toEqual([]);
    expect(importersOf("src/lib/no-locales.ts").toSorted()).toEqual([
      "node_modules/zod/v4/classic/external.js",
      "node_modules/zod/v4/core/index.js",
    ]);
  });
});
