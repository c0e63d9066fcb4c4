/**
 * `npm run generate`: regenerates all generated files that are in the repository, which show in each change
 * its effect on bindings, schema and interface, and shortens the list of crossings between databases. `npm run check` fails if one is out of date.
 */
import { shortenCrossings } from "./check/crossings.ts";
import { Refusal, runScript } from "./refusal.ts";
import { show } from "./tools/run.ts";

await runScript(async () => {
  await generate("wrangler", ["types", "--include-runtime=false"]);
  await generate("drizzle-kit", ["generate"]);
  await generate("node", ["scripts/openapi.ts"]);
  shortenCrossings();
});

async function generate(tool: string, args: string[]): Promise<void> {
  if ((await show(tool, args)) !== 0) throw new Refusal(`${tool} ${args.join(" ")} failed`);
}
