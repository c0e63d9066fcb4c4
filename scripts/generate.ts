/**
 * `npm run generate`: everything that is made from something else and yet kept in the repository, so that a
 * change shows what it does to bindings, schema and interface. `npm run check` fails where one is behind.
 */
import { Refusal, tell } from "./refusal.ts";
import { show } from "./tools/run.ts";

await tell(async () => {
  await make("wrangler", ["types", "--include-runtime=false"]);
  await make("drizzle-kit", ["generate"]);
  await make("node", ["scripts/openapi.ts"]);
});

async function make(tool: string, args: string[]): Promise<void> {
  if ((await show(tool, args)) !== 0) throw new Refusal(`${tool} ${args.join(" ")} failed`);
}
