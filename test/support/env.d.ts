import type { D1Migration } from "@cloudflare/vitest-plugin";

import type * as worker from "../../src/worker.ts";

declare global {
  namespace Cloudflare {
    /** Bindings that vitest.config.ts adds for tests. */
    interface Env {
      TEST_MIGRATIONS: D1Migration[];
    }
    interface GlobalProps {
      mainModule: typeof worker;
    }
  }
}
