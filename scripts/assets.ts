/** Lays out dist/assets, for those who run wrangler or vitest without our scripts. */
import { buildAssets } from "./build/assets.ts";
import { tell } from "./refusal.ts";

await tell(async () => {
  console.log((await buildAssets()) ? "dist/assets is new" : "dist/assets is as it was");
});
