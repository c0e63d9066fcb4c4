import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";
import { type Check, toResult } from "./check.ts";

const file = "worker-configuration.d.ts";

/**
 * The generator, without the settings of a developer (.dev.vars, .env.local), which it would add.
 */
export const TYPES_COMMAND = ["types", "--include-runtime=false", "--env-file=/dev/null"];

/** The files and folders that the generator and the build step of wrangler.toml read. */
const sources = ["wrangler.toml", "package.json", "tsconfig.json", "scripts", "src"];

/**
 * worker-configuration.d.ts matches the generator's output. The generator's own `--check` only
 * compares a hash in the first lines of the file with wrangler.toml, and ignores the rest of the
 * file.
 */
export const workerTypes: Check = {
  name: "worker-types",
  run: async () => {
    const parent = inProject("node_modules/.cache");
    await mkdir(parent, { recursive: true });
    const directory = await mkdtemp(join(parent, "worker-types-"));
    try {
      for (const source of sources) await symlink(inProject(source), join(directory, source));
      const { code, output } = await run("wrangler", TYPES_COMMAND, { cwd: directory });
      if (code !== 0) throw new Refusal(output.trim());
      const [generated, stored] = await Promise.all(
        [join(directory, file), inProject(file)].map((path) => readFile(path, "utf8")),
      );
      return toResult(generated === stored ? [] : [`${file} is out of date: run npm run generate`]);
    } finally {
      await rm(directory, { recursive: true });
    }
  },
};
