/**
 * `npm run dev`: runs wrangler dev, which rebuilds on every change. Arguments are passed to it.
 *
 * Its state is in wrangler's own directory, .wrangler/state, so that an unfinished change never
 * damages the data of `npm start`.
 */
import { buildAssets } from "./build/assets.ts";
import { Refusal, runScript } from "./refusal.ts";
import { run, show } from "./tools/run.ts";

await runScript(async () => {
  await buildAssets();

  // Without CI, wrangler prompts before each migration, and waits for ever without a terminal.
  const migrations = ["d1", "migrations", "apply", "DB", "--local"];
  const { code, output } = await run("wrangler", migrations, { env: { CI: "true" } });
  if (code !== 0) throw new Refusal(`the migrations cannot be applied:\n${output.trim()}`);

  const args = ["dev", "--ip", "127.0.0.1", "--show-interactive-dev-session=false"];
  process.exitCode = await show("wrangler", [...args, ...process.argv.slice(2)]);
});
