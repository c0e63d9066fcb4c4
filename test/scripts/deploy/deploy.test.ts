import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { withDatabaseIds } from "../../../scripts/deploy/database-ids.ts";
import { resourcesOf } from "../../../scripts/deploy/resources.ts";
import { run } from "../../../scripts/tools/run.ts";
import type { Checkout } from "../support/checkout.ts";
import { makeDeployment, openAccount } from "./account.ts";

const MIGRATE = "d1 migrations apply edgeforge --remote -c wrangler.deploy.toml";
const DEPLOY = "deploy -c wrangler.deploy.toml";

describe("npm run deploy -- --dry-run", () => {
  it("prints its commands, the migrations before the Worker", async () => {
    const { code, output } = await run("node", ["scripts/deploy.ts", "--dry-run"]);

    const lines = output.trim().split("\n");
    expect(code).toBe(0);
    expect(lines[0]).toBe("wrangler d1 info edgeforge || wrangler d1 create edgeforge");
    expect(lines.slice(-2)).toEqual([MIGRATE, DEPLOY].map((command) => `wrangler ${command}`));
  });

  it.each([
    [["--dry"], "Unknown option '--dry'"],
    [["--dry-run=no"], "Option '--dry-run' does not take an argument"],
    [["now"], "Unexpected argument 'now'"],
  ])("refuses %j, in one line", async (args, message) => {
    const { code, output } = await run("node", ["scripts/deploy.ts", "--dry-run", ...args]);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output.trim()).not.toContain("\n");
  });
});

describe("npm run deploy", () => {
  let checkout: Checkout;
  beforeAll(() => {
    checkout = makeDeployment();
  });
  afterAll(() => checkout.remove());

  const isBound = (toml = ""): boolean => toml.includes('database_id = "id-of-edgeforge"');

  it("creates what is missing, and deploys to what exists", async () => {
    const account = openAccount(checkout);

    const first = await account.deploy();

    expect(first.code).toBe(0);
    expect(first.commands[0]).toBe("d1 create edgeforge");
    expect(first.commands.slice(-2)).toEqual([MIGRATE, DEPLOY]);
    expect(isBound(account.state().deployed)).toBe(true);
    expect((await account.deploy()).commands).toEqual([MIGRATE, DEPLOY]);
  });

  it.each(["d1 list", "d1 create", "queues create", MIGRATE, DEPLOY])(
    "is repeated after a failure of: %s",
    async (failing) => {
      const account = openAccount(checkout, { failing });

      expect((await account.deploy()).code).toBe(1);
      expect(account.state().deployed).toBeUndefined();

      account.change({ failing: undefined });
      expect((await account.deploy()).code).toBe(0);
      expect(isBound(account.state().deployed)).toBe(true);
      expect(account.state().databases).toHaveLength(1);
    },
  );
});

describe("resourcesOf", () => {
  it("lists every database, bucket and queue once, including dead letter queues", () => {
    const resources = resourcesOf({
      d1_databases: [{ binding: "DB", database_name: "forge", database_id: "0000" }],
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
