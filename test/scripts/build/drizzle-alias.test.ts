import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";
import { z } from "zod";

import { buildAssets } from "../../../scripts/build/assets.ts";
import { run } from "../../../scripts/tools/run.ts";
import { makeDirectory } from "../support/temporary.ts";

const Metafile = z.object({
  inputs: z.record(z.string(), z.object({ imports: z.array(z.object({ path: z.string() })) })),
});

const replacement = "src/db/drizzle-entity.ts";
const original = "node_modules/drizzle-orm/entity.js";

describe("the alias of Drizzle's entity.js in the Worker's build", () => {
  // The keys of the alias are relative paths: a module of the same name in another package would be replaced too.
  it("replaces that module everywhere in Drizzle, and no other module", async () => {
    await buildAssets();
    const directory = makeDirectory();
    const args = ["deploy", "--dry-run", "--metafile", "--outdir", directory];
    const { code, output } = await run("wrangler", args);
    expect(code, output).toBe(0);

    const text = readFileSync(join(directory, "bundle-meta.json"), "utf8");
    const { inputs } = Metafile.parse(JSON.parse(text));
    const importersOf = (file: string): string[] =>
      Object.entries(inputs).flatMap(([name, { imports }]) =>
        imports.some(({ path }) => path.endsWith(file)) ? [name] : [],
      );

    expect(importersOf(original)).toEqual([replacement]);
    expect(importersOf(replacement)).toContain("node_modules/drizzle-orm/column.js");
    const foreign = importersOf(replacement).filter(
      (name) => !name.includes("node_modules/drizzle-orm/"),
    );
    expect(foreign).toEqual([]);
  });
});
