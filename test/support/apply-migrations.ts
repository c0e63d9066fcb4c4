import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";

import { takeMisplaced, watchSide } from "./watch-sides.ts";

// All requests have this object as their bindings.
if (env.LOCAL_DB) env.DB = env.LOCAL_DB;

if (env.TEST_SIDES && !env.WHOLE_DB) {
  env.WHOLE_DB = env.DB;
  env.SHARD_0 = watchSide(env.DB, "own");
  env.DB = watchSide(env.DB, "first");
}

await applyD1Migrations(env.WHOLE_DB ?? env.DB, env.TEST_MIGRATIONS);

// System hooks that earlier test files left behind would receive the events of this file.
await env.DB.prepare("delete from hooks where level in ('system', 'default')").run();

if (env.TEST_SIDES) {
  afterEach(({ task }) => {
    for (const each of takeMisplaced()) console.log(`MISPLACED ${task.file.name}: ${each}`);
  });
}
