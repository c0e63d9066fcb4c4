import type { D1Migration } from "@cloudflare/vitest-plugin";

import type * as worker from "../../src/worker.ts";

declare global {
  interface ImportMeta {
    /** Vite's import of all modules that match. */
    glob<Module>(pattern: string, options: { eager: true }): Record<string, Module>;
  }
  namespace Cloudflare {
    /** Bindings that vitest.config.ts adds for tests. */
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
      /** Matrices send each value for each field, not for each class of fields alone. */
      TEST_ALL: boolean;
      ALLOWED_HOST_LIST: string;
      DNS_RESOLVER_URL: string;
      WEBHOOKS_MAX: string;
      /** Databases of their own, for the few stories about every row there is. */
      SETUP_DB: D1Database;
      ADMINISTRATORS_DB: D1Database;
      FORWARDING_DB: D1Database;
      /** A queue of an operator's, and the Worker that reads it: asked, it says what came since the last time. */
      OPERATOR_QUEUE: Queue<object>;
      OPERATOR: Fetcher;
      /** A database for the test of the migrations alone. */
      MIGRATED_DB: D1Database;
      /** A database without a table: whatever is asked of it fails. */
      BARE_DB: D1Database;
    }
    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
