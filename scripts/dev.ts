/**
 * `npm run dev`: wrangler dev, which rebuilds with every change. Arguments are passed on to it.
 *
 * Its state is wrangler's own directory, .wrangler/state: what an unfinished change does to it is never
 * done to the data of `npm start`.
 */
import { buildAssets } from "./build/assets.ts";
import { Refusal, tell } from "./refusal.ts";
import { run, show } from "./tools/run.ts";

await tell(async () => {
  await buildAssets();

  // Without CI it asks before each migration, and waits for ever where nobody can answer.
  const migrations = ["d1", "migrations", "apply", "DB", "--local"];
  const { code, output } = await run("wrangler", migrations, { env: { CI: "true" } });
  if (code !== 0) throw new Refusal(`the migrations cannot be applied:\n${output.trim()}`);

  const args = ["dev", "--ip", "127.0.0.1", "--show-interactive-dev-session=false"];
  process.exitCode = await show("wrangler", [...args, ...process.argv.slice(2)]);
});
