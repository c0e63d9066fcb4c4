import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach } from "vitest";

import { shardBindings } from "./shards/shard-bindings.ts";
import { isSharded, openTestShards } from "./shards/test-shards.ts";
import { takeMisplaced, watchSide } from "./watch-sides.ts";

// All requests have this object as their bindings.
if (env.LOCAL_DB) env.DB = env.LOCAL_DB;

if (env.TEST_SIDES && !env.WHOLE_DB) {
  env.WHOLE_DB = env.DB;
  env.WHOLE_SHARDS = shardBindings();
  env.SHARD_0 = watchSide(env.DB, "own");
  env.DB = watchSide(env.DB, "first");
  for (const [name, d1] of Object.entries(env.WHOLE_SHARDS)) {
    Object.assign(env, { [name]: watchSide(d1, "own") });
  }
}

await applyD1Migrations(env.WHOLE_DB ?? env.DB, env.TEST_MIGRATIONS);

if (isSharded) await openTestShards();
if (env.KNOWN_FAILURES.length > 0) {
  beforeEach(({ task }) => {
    const name = task.fullTestName;
    const isKnown = env.KNOWN_FAILURES.some(
      ({ file, test }) => file === task.file.name && name.startsWith(test),
    );
    // One that passes fails.
    if (isKnown) Object.assign(task, { fails: true });
  });
}

// System hooks that earlier test files left behind would receive the events of this file.
await env.DB.prepare("delete from hooks where level in ('system', 'default')").run();

if (env.TEST_SIDES) {
  afterEach(({ task }) => {
    for (const each of takeMisplaced()) console.log(`MISPLACED ${task.file.name}: ${each}`);
  });
}
