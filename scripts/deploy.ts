/**
 * `npm run deploy`: creates missing resources of the account, applies the migrations, and deploys.
 * `npm run deploy -- --dry-run` only prints the commands; `-- --shards <number>` adds databases.
 *
 * wrangler.toml stays unchanged: a copy with the ids of the account is wrangler.deploy.toml, which is rewritten
 * each time and ignored by git. So any account can deploy the same checkout. Each step may be repeated: a deployment that
 * failed continues when it is run again.
 */
import { readFile, writeFile } from "node:fs/promises";

import { buildAssets } from "./build/assets.ts";
import { withDatabaseIds } from "./deploy/database-ids.ts";
import { parseOptions } from "./deploy/options.ts";
import { resourcesOf } from "./deploy/resources.ts";
import { countShards, newShards, shardName, shardPrefix, withShards } from "./deploy/shards.ts";
import { inProject } from "./project.ts";
import { Refusal, runScript } from "./refusal.ts";
import { run, show } from "./tools/run.ts";
import { readWranglerToml } from "./tools/wrangler-toml.ts";

const config = "wrangler.deploy.toml";
const listDatabases = ["d1", "list", "--json"];
const deployWorker = ["deploy", "-c", config];

await runScript(async () => {
  const options = parseOptions(process.argv.slice(2));
  const { toml } = readWranglerToml();
  const resources = resourcesOf(toml);
  const databases = toml.d1_databases.map(({ database_name: name }) => name);
  const first = toml.d1_databases.find(({ binding }) => binding === "DB")?.database_name;
  if (first === undefined) throw new Refusal('wrangler.toml has no database with the binding "DB"');

  if (options.isDryRun) {
    for (const { find, create } of resources) {
      print(`${find.join(" ")} || wrangler ${create.join(" ")}`);
    }
    for (const shard of newShards(0, options.shards)) {
      print(`d1 create ${shardName(first, shard)}  # unless the account has it`);
    }
    print(`${listDatabases.join(" ")}  # its ids and wrangler.toml make ${config}`);
    for (const name of databases) print(applyMigrations(name).join(" "));
    const shard = `${shardPrefix(first)}<number>`;
    print(`${applyMigrations(shard).join(" ")}  # for each shard that the account has`);
    print(deployWorker.join(" "));
    return;
  }

  await buildAssets();
  for (const { find, create } of resources) {
    if ((await run("wrangler", find)).code !== 0) await wrangler(create);
  }
  const shards = await createShards(first, options.shards);
  const text = withShards(await readFile(inProject("wrangler.toml"), "utf8"), shards.length);
  await writeFile(inProject(config), withDatabaseIds(text, await databaseListing()));
  // The schema comes first: the running Worker works with the new schema, and the new Worker requires it.
  for (const name of [...databases, ...shards]) await wrangler(applyMigrations(name));
  await wrangler(deployWorker);
});

function applyMigrations(name: string): string[] {
  return ["d1", "migrations", "apply", name, "--remote", "-c", config];
}

/**
 * Creates missing databases of shards.
 *
 * @returns The names of all, by number.
 */
async function createShards(first: string, wanted: number | undefined): Promise<string[]> {
  const existing = countShards(await databaseListing(), first);
  const created = newShards(existing, wanted);
  if (existing + created.length > 0) {
    console.log(`shards: ${existing} exist, ${created.length} are created`);
  }
  for (const shard of created) await wrangler(["d1", "create", shardName(first, shard)]);
  return Array.from({ length: existing + created.length }, (_, index) =>
    shardName(first, index + 1),
  );
}

async function databaseListing(): Promise<string> {
  const { code, output } = await run("wrangler", listDatabases);
  if (code !== 0) throw new Refusal(`the databases cannot be listed:\n${output}`);
  return output;
}

function print(command: string): void {
  console.log(`wrangler ${command}`);
}

async function wrangler(args: string[]): Promise<void> {
  // With CI, wrangler does not prompt: running this command is the confirmation.
  const code = await show("wrangler", args, { env: { CI: "true" } });
  if (code !== 0) throw new Refusal(`wrangler ${args.join(" ")} failed`);
}
