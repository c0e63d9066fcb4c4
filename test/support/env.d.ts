import type { D1Migration } from "@cloudflare/vitest-plugin";

import type { KnownFailure } from "./shards/with-shards.ts";
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
      /** Matrices send every value for every field, not only once per class of fields. */
      TEST_ALL: boolean;
      /** Whether the work of requests and jobs is recorded, and bounded by nothing. */
      TEST_RECORD: boolean;
      ALLOWED_HOST_LIST: string;
      DNS_RESOLVER_URL: string;
      WEBHOOKS_MAX: string;
      /** Databases of their own, for the few tests about all rows of a table. */
      SETUP_DB: D1Database;
      ADMINISTRATORS_DB: D1Database;
      FORWARDING_DB: D1Database;
      /** An operator's queue, and its consumer: a Worker that responds with the messages since the last request. */
      OPERATOR_QUEUE: Queue<object>;
      OPERATOR: Fetcher;
      /** A database for the test of the migrations alone. */
      MIGRATED_DB: D1Database;
      MIGRATED_SHARD_DB: D1Database;
      MIGRATED_WORDS_DB: D1Database;
      /** The first database and the shards of the tests of many databases. */
      DIRECTORY_DB: D1Database;
      /** `DB` under another name: the database of repositories' own data. */
      SHARD_0?: D1Database;
      /** `DB` itself, for tests. */
      WHOLE_DB?: D1Database;
      /** The shards themselves, for tests, where statements are watched. */
      WHOLE_SHARDS?: Record<string, D1Database>;
      /** How many shards the Worker has. */
      TEST_SHARDS: number;
      /** Tests that fail with shards. */
      KNOWN_FAILURES: readonly KnownFailure[];
      /** Whether statements are watched. */
      TEST_SIDES: boolean;
      /** Shards of `DB`, for the tests of notifications. */
      SCENE_SHARD_1: D1Database;
      SCENE_SHARD_2: D1Database;
      TEST_SHARD_1: D1Database;
      TEST_SHARD_2: D1Database;
      TEST_SHARD_3: D1Database;
      /** Shards of the Worker, which it has only with EDGEFORGE_TEST_SHARDS. */
      SHARD_1?: D1Database;
      SHARD_2?: D1Database;
      SHARD_3?: D1Database;
      /** A database without tables: every query fails. */
      BARE_DB: D1Database;
      /** The local database of `npm start`, where the tests run on it. */
      LOCAL_DB?: D1Database;
      /** Two databases for the test that compares them: Miniflare's simulator of D1, and the local database. */
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
