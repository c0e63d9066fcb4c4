import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

// System hooks that earlier test files left behind would receive the events of this file.
await env.DB.prepare("delete from hooks where level in ('system', 'default')").run();
