/**
 * `npm run generate`: regenerates all generated files that are in the repository, which show in
 * each change its effect on bindings and schema. `npm run check` fails if one is out of date.
 */
import { TYPES_COMMAND } from "./check/worker-types.ts";
import { Refusal, runScript } from "./refusal.ts";
import { show } from "./tools/run.ts";

await runScript(async () => {
  await generate("wrangler", TYPES_COMMAND);
  await generate("drizzle-kit", ["generate"]);
});

async function generate(tool: string, args: string[]): Promise<void> {
  if ((await show(tool, args)) !== 0) throw new Refusal(`${tool} ${args.join(" ")} failed`);
}
