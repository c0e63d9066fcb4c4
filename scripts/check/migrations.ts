import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";

import drizzle from "../../drizzle.config.ts";
import { inProject, projectRoot } from "../project.ts";
import { run } from "../tools/run.ts";
import { type Check, runCheckTool } from "./check.ts";

/** The migrations are consistent, and result in the schema. */
export const migrations: Check = {
  name: "migrations",
  run: async () => {
    const consistent = await runCheckTool("drizzle-kit", ["check"]);
    if (!consistent.isOk) return consistent;

    // drizzle-kit has no dry run, so it generates into a copy.
    const parent = inProject("node_modules/.cache");
    await mkdir(parent, { recursive: true });
    const copy = await mkdtemp(join(parent, "migrations-"));
    try {
      await cp(inProject(drizzle.out), copy, { recursive: true });
      const { code, output } = await run("drizzle-kit", generateInto(relative(projectRoot, copy)));
      const known = new Set(await readdir(inProject(drizzle.out)));
      const missing = (await readdir(copy)).filter((name) => !known.has(name));
      if (code !== 0) return { isOk: false, detail: output.trim() };
      const detail =
        missing.length > 0 ? "the schema has changes without a migration: npm run generate" : "";
      return { isOk: missing.length === 0, detail };
    } finally {
      await rm(copy, { recursive: true });
    }
  },
};

function generateInto(out: string): string[] {
  const { dialect, schema, casing } = drizzle;
  return ["generate", "--dialect", dialect, "--schema", schema, "--casing", casing, "--out", out];
}
