/**
 * `npm run generate`: regenerates all generated files that are in the repository, which show in
 * each change its effect on bindings and schema. `npm run check` fails if one is out of date.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { TYPES_COMMAND } from "./check/worker-types.ts";
import { inProject } from "./project.ts";
import { Refusal, runScript } from "./refusal.ts";
import { show } from "./tools/run.ts";

await runScript(async () => {
  await generate("wrangler", TYPES_COMMAND);
  await generate("drizzle-kit", ["generate"]);
  await removeOldSnapshots();
});

/** Only the newest snapshot of the schema is read, by the next migration. */
async function removeOldSnapshots(): Promise<void> {
  const directory = inProject("migrations/meta");
  const names = (await readdir(directory)).filter((name) => name.endsWith("_snapshot.json"));
  for (const name of names.toSorted().slice(0, -1)) await rm(join(directory, name));
}

async function generate(tool: string, args: string[]): Promise<void> {
  if ((await show(tool, args)) !== 0) throw new Refusal(`${tool} ${args.join(" ")} failed`);
}
