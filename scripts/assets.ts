/** Builds dist/assets, for runs of wrangler or vitest without these scripts. */
import { buildAssets } from "./build/assets.ts";
import { runScript } from "./refusal.ts";

await runScript(async () => {
  console.log((await buildAssets()) ? "dist/assets was built" : "dist/assets is up to date");
});
