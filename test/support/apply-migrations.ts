import { env } from "cloudflare:workers";

import { migrate } from "./migrate.ts";

// All requests have this object as their bindings.
if (env.LOCAL_DB) env.DB = env.LOCAL_DB;

await migrate(env.DB);

// System hooks that earlier test files left behind would receive the events of this file.
await env.DB.prepare("delete from hooks where level in ('system', 'default')").run();
