import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { openVitestPlugin } from "./scripts/build/vitest-plugin.ts";
import { BalancedSequencer } from "./scripts/test/balanced-sequencer.ts";

const { cloudflareTest, readD1Migrations } = await openVitestPlugin();

/** Beside the tests of the API, but in Node: its validator compiles code, which workerd forbids. */
const DOCUMENT_TEST = "test/api/document.test.ts";

/** As in wrangler.toml: src/db/drizzle-entity.ts in the place of the module of that name in Drizzle. */
const DRIZZLE_ENTITY = {
  find: /^(?:\.{1,2}\/)+entity\.js$/,
  replacement: fileURLToPath(new URL("src/db/drizzle-entity.ts", import.meta.url)),
};

/** Reads the operator's queue, and says what it got. */
const OPERATOR = {
  name: "operator",
  compatibilityDate: "2026-10-20",
  modules: true,
  script: `
    let got = [];
    export default {
      queue: ({ messages }) => void got.push(...messages.map(({ body }) => body)),
      fetch: () => Response.json(got.splice(0)),
    };`,
  queueConsumers: { operator: { maxBatchSize: 100, maxBatchTimeout: 0 } },
};

export default defineConfig({
  test: {
    // What the service logs is shown of tests that fail.
    silent: "passed-only",
    sequence: { sequencer: BalancedSequencer },
    projects: [
      {
        // Pure rooms: bytes and text in, values out, in plain Node.
        test: {
          name: "node",
          include: ["test/{lib,git,render,storage/node,outgoing/node}/**/*.test.ts", DOCUMENT_TEST],
          environment: "node",
          // A busy machine takes its time; what has a bound of its own says so itself.
          testTimeout: 30_000,
        },
      },
      {
        // The scripts, and the service they start: builds, processes, signals. Run by .ci/run.
        test: {
          name: "scripts",
          include: ["test/scripts/**/*.test.ts"],
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // Each service takes two processes: a machine of two cores has enough with one file at a time.
          fileParallelism: false,
        },
      },
      {
        // Real clients against the running service. Run by .ci/run.
        test: {
          name: "clients",
          include: ["test/clients/**/*.test.ts"],
          environment: "node",
          globalSetup: ["test/clients/support/start-service.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // One service of one process answers them all.
          fileParallelism: false,
        },
      },
      {
        // The whole Worker in workerd, with a real D1.
        resolve: { alias: [DRIZZLE_ENTITY] },
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations("./migrations"),
                TEST_ALL: process.env["EDGEFORGE_TEST_ALL"] === "1",
                // Receivers of webhooks are on this machine, and nobody is asked where names lead.
                ALLOWED_HOST_LIST: "external, loopback, *.example",
                DNS_RESOLVER_URL: "",
                // Those of the service are everybody's.
                WEBHOOKS_MAX: "1000",
              },
              // For the few stories about every row there is, or about none: nobody else's rows.
              d1Databases: [
                "SETUP_DB",
                "ADMINISTRATORS_DB",
                "FORWARDING_DB",
                "MIGRATED_DB",
                "BARE_DB",
              ],
              // A queue as an operator would have it, by another name: only the tests of it fill it.
              queueProducers: { OPERATOR_QUEUE: { queueName: "operator" } },
              serviceBindings: { OPERATOR: "operator" },
              workers: [OPERATOR],
            },
          })),
        ],
        test: {
          name: "worker",
          include: [
            "test/{auth,db,domain,entrance,events,jobs,outgoing,shapes,storage,api,git-http,web}/**/*.test.ts",
            "test/*.test.ts",
          ],
          exclude: [DOCUMENT_TEST, "test/{storage,outgoing}/node/**"],
          // An alias reaches only what Vite resolves.
          server: { deps: { inline: ["drizzle-orm"] } },
          globalSetup: ["test/support/start-receiver.ts"],
          setupFiles: ["test/support/count-d1-calls.ts", "test/support/apply-migrations.ts"],
          // One isolate for all files: each test makes rows with names of its own.
          isolate: false,
          // A busy machine takes its time; what has a bound of its own says so itself.
          testTimeout: 30_000,
        },
      },
    ],
  },
});
