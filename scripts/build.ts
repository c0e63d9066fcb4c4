/**
 * `npm run build`: the build step of wrangler.toml, which makes what the Worker imports and serves.
 *
 * Under `wrangler dev` it also makes what a service on this machine needs: the schema, and
 * settings. Its argument is the process id of wrangler.
 */
import { buildAssets } from "./build/assets.ts";
import { IS_BUILT } from "./build/worker.ts";
import { provideSettings } from "./dev/settings.ts";
import { migrateState } from "./dev/state.ts";
import { runScript } from "./refusal.ts";

await runScript(async () => {
  if (process.env[IS_BUILT]) return;
  await buildAssets();
  if (process.env["WRANGLER_COMMAND"] !== "dev") return;

  for (const line of [...(await migrateState(process.argv[2])), ...provideSettings()]) {
    console.log(line);
  }
});
