import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

// Hooks that other files left behind would be told of whatever this one does.
await env.DB.prepare("delete from hooks where level in ('system', 'default')").run();
