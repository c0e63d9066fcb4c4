import type { D1Migration } from "@cloudflare/vitest-plugin";

import type * as worker from "../../src/worker.ts";

declare global {
  namespace Cloudflare {
    /** Bindings that vitest.config.ts adds for tests. */
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
      SETUP_DB: D1Database;
      ADMINISTRATORS_DB: D1Database;
    }
    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
