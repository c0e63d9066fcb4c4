import { describe, expect, it } from "vitest";

import { withDatabaseIds } from "../../../scripts/deploy/database-ids.ts";
import { resourcesOf } from "../../../scripts/deploy/resources.ts";
import { run } from "../../../scripts/tools/run.ts";

describe("npm run deploy -- --dry-run", () => {
  it("prints its commands, the migrations before the Worker", async () => {
    const { code, output } = await run("node", ["scripts/deploy.ts", "--dry-run"]);

    const lines = output.trim().split("\n");
    expect(code).toBe(0);
    expect(lines[0]).toBe("wrangler d1 info edgeforge || wrangler d1 create edgeforge");
    expect(lines.slice(-3)).toEqual([
      "wrangler d1 migrations apply edgeforge --remote -c wrangler.deploy.toml",
      "wrangler d1 migrations apply edgeforge-shard-<number> --remote -c wrangler.deploy.toml  # for each shard that the account has",
      "wrangler deploy -c wrangler.deploy.toml",
    ]);
    expect(output).not.toContain("d1 create edgeforge-shard");
  });

  it("prints the databases of shards that it would create", async () => {
    const { output } = await run("node", ["scripts/deploy.ts", "--dry-run", "--shards", "2"]);

    expect(output.match(/^wrangler d1 create .*$/gm)).toEqual([
      "wrangler d1 create edgeforge-shard-1  # unless the account has it",
      "wrangler d1 create edgeforge-shard-2  # unless the account has it",
    ]);
  });

  it.each([
    [["--shard", "2"], "Unknown option '--shard'"],
    [["--shards", "-2"], "Option '--shards"],
    [["--shards", "two"], '--shards must be a whole number from 0 to 1000, not "two"'],
    [["--shards", "1001"], '--shards must be a whole number from 0 to 1000, not "1001"'],
    [["2"], "Unexpected argument '2'"],
  ])("refuses %j, in one line", async (args, message) => {
    const { code, output } = await run("node", ["scripts/deploy.ts", "--dry-run", ...args]);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output.trim()).not.toContain("\n");
  });
});

describe("resourcesOf", () => {
  it("lists every database, bucket and queue once, including dead letter queues", () => {
    const resources = resourcesOf({
      name: "forge",
      triggers: { crons: [] },
      d1_databases: [{ binding: "DB", database_name: "forge" }],
      kv_namespaces: [],
      r2_buckets: [{ binding: "PACKS", bucket_name: "packs" }],
      queues: {
        producers: [{ binding: "JOBS", queue: "jobs" }],
        consumers: [{ queue: "jobs", dead_letter_queue: "dead" }],
      },
    });

    expect(resources.map(({ create }) => create.join(" "))).toEqual([
      "d1 create forge",
      "r2 bucket create packs",
      "queues create jobs",
      "queues create dead",
    ]);
  });
});

describe("withDatabaseIds", () => {
  const toml = `name = "forge"
[[d1_databases]]
binding = "DB"
database_id = "0000"
database_name = "forge"
[vars]
database_id = "not this one"
`;

  it("fills in the database id of the account and changes nothing else", () => {
    const filled = withDatabaseIds(
      toml,
      '[{"name":"forge","uuid":"1234"},{"name":"x","uuid":"9"}]',
    );

    expect(filled).toMatch(/^# Written by npm run deploy/);
    expect(filled.slice(filled.indexOf("\n") + 1)).toBe(toml.replace('"0000"', '"1234"'));
  });

  it("refuses a database that the account does not have", () => {
    expect(() => withDatabaseIds(toml, "[]")).toThrow('no database "forge"');
  });
});
