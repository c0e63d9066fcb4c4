import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { countShards, newShards, withShards } from "../../../scripts/deploy/shards.ts";
import type { Checkout } from "../support/checkout.ts";
import { makeDeployment, openAccount } from "./account.ts";
import type { Account } from "./stand-in.ts";

let checkout: Checkout;
/** An account after a deployment without shards. */
let deployed: Account;

beforeAll(async () => {
  checkout = makeDeployment();
  const account = openAccount(checkout);
  await account.deploy();
  deployed = account.state();
});
afterAll(() => checkout.remove());

const migrate = (name: string) => `d1 migrations apply ${name} --remote -c wrangler.deploy.toml`;
const DEPLOY = "deploy -c wrangler.deploy.toml";

/** The bindings of databases in a configuration, with their ids. */
const bindingsOf = (toml = ""): [string, string][] =>
  [...toml.matchAll(/^binding = "(DB|SHARD_\d+)"$[^[]*?^database_id = "(.*)"$/gm)].map(
    ([, binding = "", id = ""]) => [binding, id],
  );

const DB: [string, string] = ["DB", "id-of-edgeforge"];
const shard = (number: number): [string, string] => [
  `SHARD_${number}`,
  `id-of-edgeforge-shard-${number}`,
];

/** The account with the databases of some shards. */
const withDatabases = (...shards: number[]): Account => ({
  ...deployed,
  databases: [
    ...deployed.databases,
    ...shards.map((number) => ({
      name: `edgeforge-shard-${number}`,
      uuid: `id-of-edgeforge-shard-${number}`,
    })),
  ],
});

describe("npm run deploy -- --shards", () => {
  it("creates the databases, and migrates each before the Worker that is bound to it", async () => {
    expect(bindingsOf(deployed.deployed)).toEqual([DB]);
    const account = openAccount(checkout, deployed);

    const { code, output, commands } = await account.deploy("--shards", "2");

    expect(code).toBe(0);
    expect(output).toContain("shards: 0 exist, 2 are created\n");
    expect(commands).toEqual([
      "d1 create edgeforge-shard-1",
      "d1 create edgeforge-shard-2",
      migrate("edgeforge"),
      migrate("edgeforge-shard-1"),
      migrate("edgeforge-shard-2"),
      DEPLOY,
    ]);
    expect(bindingsOf(account.state().deployed)).toEqual([DB, shard(1), shard(2)]);
  });

  it("adds to those that exist, which later deployments keep", async () => {
    const account = openAccount(checkout, withDatabases(1));

    expect((await account.deploy("--shards", "3")).commands).toContain(
      "d1 create edgeforge-shard-3",
    );
    const { output, commands } = await account.deploy();

    expect(output).toContain("shards: 3 exist, 0 are created\n");
    expect(commands).toEqual([
      migrate("edgeforge"),
      migrate("edgeforge-shard-1"),
      migrate("edgeforge-shard-2"),
      migrate("edgeforge-shard-3"),
      DEPLOY,
    ]);
    expect(bindingsOf(account.state().deployed)).toEqual([DB, shard(1), shard(2), shard(3)]);
  });

  it("refuses fewer than exist, and changes nothing", async () => {
    const existing = withDatabases(1, 2);
    const account = openAccount(checkout, existing);

    const { code, output, commands } = await account.deploy("--shards", "1");

    expect(code).toBe(1);
    expect(output).toContain(
      "--shards is 1, but the account has 2 shards, and their number may only grow\n",
    );
    expect(commands).toEqual([]);
    expect(account.state()).toMatchObject({
      deployed: existing.deployed,
      databases: existing.databases,
    });
  });

  it("does not deploy a Worker without one of its databases", async () => {
    const account = openAccount(checkout, withDatabases(1, 3));

    for (const args of [[], ["--shards", "3"]]) {
      const { code, output, commands } = await account.deploy(...args);

      expect(code).toBe(1);
      expect(output).toContain(
        'the account has the database "edgeforge-shard-3" and not "edgeforge-shard-2": restore it first\n',
      );
      expect(commands).toEqual([]);
    }
  });

  it.each(["d1 list", "d1 create edgeforge-shard-2", migrate("edgeforge-shard-1"), DEPLOY])(
    "is repeated after a failure of: %s",
    async (failing) => {
      const account = openAccount(checkout, { ...deployed, failing });

      const failed = await account.deploy("--shards", "2");

      expect(failed.code).toBe(1);
      expect(account.state().deployed).toBe(deployed.deployed);

      account.change({ failing: undefined });
      expect((await account.deploy("--shards", "2")).code).toBe(0);
      expect(bindingsOf(account.state().deployed)).toEqual([DB, shard(1), shard(2)]);
      expect(account.state().databases).toHaveLength(3);
    },
  );
});

const listing = (...names: string[]) => JSON.stringify(names.map((name) => ({ name, uuid: name })));

describe("countShards", () => {
  it("counts those of the first database, and no others", () => {
    expect(countShards(listing("forge", "other-shard-1", "forge-shard-x"), "forge")).toBe(0);
    const names = Array.from({ length: 11 }, (_, index) => `forge-shard-${index + 1}`);
    expect(countShards(listing("forge", ...names.toReversed()), "forge")).toBe(11);
    expect(countShards(listing("forge", "forge-shard-01", "forge-shard-1"), "forge")).toBe(1);
  });
});

describe("newShards", () => {
  it("are those after the last", () => {
    expect(newShards(2, 4)).toEqual([3, 4]);
    expect(newShards(2)).toEqual([]);
    expect(newShards(2, 2)).toEqual([]);
    expect(() => newShards(2, 0)).toThrow("may only grow");
  });
});

describe("withShards", () => {
  const toml = `name = "forge"

[[d1_databases]]
# A comment.
binding = "DB"
database_name = "forge"
database_id = "0"
migrations_dir = "migrations"

# The next section.
[vars]
A = "b"
`;

  it("adds a section for each, with the settings of the first database", () => {
    expect(withShards(toml, 0)).toBe(toml);
    expect(withShards(toml, 2)).toBe(`${toml}
[[d1_databases]]
binding = "SHARD_1"
database_name = "forge-shard-1"
database_id = "0"
migrations_dir = "migrations"

[[d1_databases]]
binding = "SHARD_2"
database_name = "forge-shard-2"
database_id = "0"
migrations_dir = "migrations"
`);
  });

  it("refuses a file without a first database", () => {
    expect(() => withShards('name = "forge"\n', 1)).toThrow('no database with the binding "DB"');
  });
});
