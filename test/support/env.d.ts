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
      /** Whether the work of requests and jobs is recorded, and bounded by nothing. */
      TEST_RECORD: boolean;
      ALLOWED_HOST_LIST: string;
      DNS_RESOLVER_URL: string;
      WEBHOOKS_MAX: string;
      /** Databases of their own, for the few tests about all rows of a table. */
      SETUP_DB: D1Database;
      ADMINISTRATORS_DB: D1Database;
      FORWARDING_DB: D1Database;
      /**
       * An operator's queue, and its consumer: a Worker that responds with the messages since the
       * last request.
       */
      OPERATOR_QUEUE: Queue<object>;
      OPERATOR: Fetcher;
      /** A database without tables: every query fails. */
      BARE_DB: D1Database;
      /** The local database of `npm start`, where the tests run on it. */
      LOCAL_DB?: D1Database;
      /**
       * Two databases for the test that compares them: Miniflare's simulator of D1, and the local
       * database.
       */
      COMPARED_DB: D1Database;
      COMPARED_LOCAL_DB: D1Database;
      COMPARED_BUCKET: R2Bucket;
      COMPARED_LOCAL_BUCKET: R2Bucket;
    }
    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
