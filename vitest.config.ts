import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { buildLocalBindings } from "./scripts/build/local-bindings.ts";
import { openVitestPlugin } from "./scripts/build/vitest-plugin.ts";
import { localBuckets } from "./scripts/serve/bucket/bindings.ts";
import { localDatabases } from "./scripts/serve/database/bindings.ts";
import { SizeSequencer } from "./scripts/test/size-sequencer.ts";

const { cloudflareTest, readD1Migrations } = await openVitestPlugin();
await buildLocalBindings();

/**
 * The tests of the Worker run on Miniflare's simulator of D1, or on the local database of
 * `npm start`.
 */
const ON_LOCAL_DATABASE = process.env["EDGEFORGE_TEST_DATABASE"] !== "d1";

/** Separate databases for the few tests about all rows of a table, or about none. */
const OTHER_DATABASES = ["SETUP_DB", "ADMINISTRATORS_DB", "FORWARDING_DB", "BARE_DB"];

/**
 * A test of the API that runs in Node, because its validator compiles code, which workerd forbids.
 */
const DOCUMENT_TEST = "test/api/document.test.ts";
/**
 * Tests of parts that do not depend on the platform: they measure memory, or replace timers, which
 * in workerd would be those of jobs as well.
 */
const NODE_TESTS = "test/{storage,outgoing,domain}/**/node/**/*.test.ts";

/** As in wrangler.toml: src/db/drizzle-entity.ts replaces Drizzle's module entity.js. */
const DRIZZLE_ENTITY = {
  find: /^(?:\.{1,2}\/)+entity\.js$/,
  replacement: fileURLToPath(new URL("src/db/drizzle-entity.ts", import.meta.url)),
};

/** In Node, imports WebAssembly as a Worker does: as a module. */
const WASM_MODULES = {
  name: "wasm-modules",
  enforce: "pre" as const,
  load(id: string): string | undefined {
    if (!id.endsWith(".wasm")) return undefined;
    return `import { readFileSync } from "node:fs";
      export default new WebAssembly.Module(readFileSync(${JSON.stringify(id)}));`;
  },
};

/** The consumer of an operator's queue; it responds with the messages since the last request. */
const OPERATOR = {
  name: "operator",
  compatibilityDate: "2026-10-20",
  modules: true,
  script: `
    let received = [];
    export default {
      queue: ({ messages }) => void received.push(...messages.map(({ body }) => body)),
      fetch: () => Response.json(received.splice(0)),
    };`,
  queueConsumers: { operator: { maxBatchSize: 100, maxBatchTimeout: 0 } },
};

/** Of what is awaited: a busy machine is slow. */
const PATIENCE = { poll: { timeout: 20_000 } };

export default defineConfig({
  test: {
    // A log line of a background job may still be on its way when the last file of a process ends.
    onUnhandledError: ({ message }) =>
      !message?.includes('Closing rpc while "onUserConsoleLog" was pending'),
    // Logs of the service are shown for failed tests only.
    silent: "passed-only",
    sequence: { sequencer: SizeSequencer },
    projects: [
      {
        // Folders without dependencies on the platform, in plain Node.
        plugins: [WASM_MODULES],
        test: {
          name: "node",
          expect: PATIENCE,
          include: ["test/{lib,git,render}/**/*.test.ts", NODE_TESTS, DOCUMENT_TEST],
          environment: "node",
          // Its modules import JSON as only bundlers do.
          server: { deps: { inline: ["@actions/workflow-parser"] } },
          // A busy machine is slow; tests of a time limit set their own timeout.
          testTimeout: 30_000,
        },
      },
      {
        // The scripts, and the service that they start: builds, processes, signals. Run by .ci/run.
        test: {
          name: "scripts",
          expect: PATIENCE,
          include: ["test/scripts/**/*.test.ts"],
          environment: "node",
          // Tests that start the service several times take minutes on a busy machine.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Real clients against the running service. Run by .ci/run.
        test: {
          name: "clients",
          expect: PATIENCE,
          include: ["test/clients/**/*.test.ts"],
          environment: "node",
          globalSetup: ["test/clients/support/start-service.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // All files share one service.
          fileParallelism: false,
          // Tests of a browser keep two cores busy.
          maxConcurrency: 2,
        },
      },
      {
        // The whole Worker in workerd, with a real D1.
        resolve: { alias: [DRIZZLE_ENTITY] },
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              // Modules and results of tests come and go through a socket on this machine.
              compatibilityFlags: ["no_web_socket_compression"],
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations("./migrations"),
                TEST_RECORD: process.env["EDGEFORGE_TEST_RECORD"] === "1",
                // Test files read these in Node as well.
                EDGEFORGE_TEST_ALL: process.env["EDGEFORGE_TEST_ALL"] ?? "",
                EDGEFORGE_TEST_SEED: process.env["EDGEFORGE_TEST_SEED"] ?? "",
                // Webhook receivers run on this machine, and names are not resolved.
                ALLOWED_HOST_LIST: "external, loopback, *.example",
                DNS_RESOLVER_URL: "",
                // The limit also counts system hooks, which all tests share.
                WEBHOOKS_MAX: "1000",
                // Each download is counted at once.
                PACKAGES_DOWNLOAD_COUNT_SECONDS: "0",
              },
              // The setup of each test file replaces DB, which wrangler.toml binds, by LOCAL_DB.
              d1Databases: ["COMPARED_DB", ...(ON_LOCAL_DATABASE ? [] : OTHER_DATABASES)],
              r2Buckets: ["COMPARED_BUCKET"],
              unsafeBindings: [
                ...localBuckets({ COMPARED_LOCAL_BUCKET: "COMPARED_LOCAL_BUCKET" }),
                ...localDatabases([
                  "COMPARED_LOCAL_DB",
                  ...(ON_LOCAL_DATABASE ? ["LOCAL_DB", ...OTHER_DATABASES] : []),
                ]),
              ],
              // A queue like an operator's, with another binding name: only its own tests send to
              // it.
              queueProducers: { OPERATOR_QUEUE: { queueName: "operator" } },
              serviceBindings: { OPERATOR: "operator" },
              workers: [OPERATOR],
            },
          })),
        ],
        test: {
          name: "worker",
          expect: PATIENCE,
          include: [
            "test/{actions-runner,auth,db,domain,entrance,events,forges,hostile,jobs,outgoing,registries,shapes,storage,api,git-http,web}/**/*.test.ts",
            "test/*.test.ts",
          ],
          exclude: [DOCUMENT_TEST, NODE_TESTS],
          // An alias applies only to modules that Vite resolves.
          server: { deps: { inline: ["drizzle-orm"] } },
          globalSetup: [
            "test/support/start-receiver.ts",
            "test/support/start-remotes.ts",
            "test/support/forges/start-gitea.ts",
            "test/support/forges/start-github.ts",
            "test/support/forges/start-gitlab.ts",
          ],
          setupFiles: [
            "test/support/evaluated-modules.ts",
            "test/support/apply-migrations.ts",
            "test/support/keep-logs.ts",
          ],
          // One isolate for all files: each test creates rows with unique names.
          isolate: false,
          // A busy machine is slow; tests of a time limit set their own timeout.
          testTimeout: 30_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
