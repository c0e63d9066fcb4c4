import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";
import { z } from "zod";

import { run } from "../../../scripts/tools/run.ts";
import { makeDirectory } from "../support/temporary.ts";

const Metafile = z.object({
  inputs: z.record(z.string(), z.object({ imports: z.array(z.object({ path: z.string() })) })),
});

/** For a module of the Worker's build, the modules that import it. */
async function readImporters(): Promise<(file: string) => string[]> {
  const directory = makeDirectory();
  const args = ["deploy", "--dry-run", "--metafile", "--outdir", directory];
  const { code, output } = await run("wrangler", args);
  expect(code, output).toBe(0);

  const text = readFileSync(join(directory, "bundle-meta.json"), "utf8");
  const { inputs } = Metafile.parse(JSON.parse(text));
  return (file) =>
    Object.entries(inputs).flatMap(([name, { imports }]) =>
      imports.some(({ path }) => path.endsWith(file)) ? [name] : [],
    );
}

describe("the aliases of the Worker's build", () => {
  // The keys of the aliases are relative paths: a module of the same name in another package would
  // be replaced too.
  it("replace Drizzle's entity.js and zod's locales, and no other module", async () => {
    const importersOf = await readImporters();
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
