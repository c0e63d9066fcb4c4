import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Beside the tests of the API, but in Node: its validator compiles code, which workerd forbids. */
const DOCUMENT_TEST = "test/api/document.test.ts";

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
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations("./migrations"),
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
          globalSetup: ["test/support/start-receiver.ts"],
          setupFiles: ["test/support/apply-migrations.ts"],
          // One isolate for all files: each test makes rows with names of its own.
          isolate: false,
          // A busy machine takes its time; what has a bound of its own says so itself.
          testTimeout: 30_000,
        },
      },
    ],
  },
});
