/**
 * `npm run deploy`: creates missing resources of the account, applies the migrations, and deploys.
 * `npm run deploy -- --dry-run` only prints the commands.
 *
 * wrangler.toml stays unchanged: a copy with the ids of the account is wrangler.deploy.toml, which
 * is rewritten each time and ignored by git. So any account can deploy the same checkout. Each step
 * may be repeated: a deployment that failed continues when it is run again.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { buildAssets } from "./build/assets.ts";
import { withDatabaseIds } from "./deploy/database-ids.ts";
import { resourcesOf } from "./deploy/resources.ts";
import { inProject } from "./project.ts";
import { reasonOf, Refusal, runScript } from "./refusal.ts";
import { run, show } from "./tools/run.ts";
import { readWranglerToml } from "./tools/wrangler-toml.ts";

const config = "wrangler.deploy.toml";

await runScript(async () => {
  const { "dry-run": isDryRun } = parseOptions(process.argv.slice(2));
  const { toml } = readWranglerToml();
  const resources = resourcesOf(toml);
  const listDatabases = ["d1", "list", "--json"];
  const applyMigrations = (name: string): string[] => [
    "d1",
    "migrations",
    "apply",
    name,
    "--remote",
    "-c",
    config,
  ];
  // The schema comes first: the running Worker works with the new schema, and the new Worker
  // requires it.
  const commands = [
    ...toml.d1_databases.map(({ database_name: name }) => applyMigrations(name)),
    ["deploy", "-c", config],
  ];

  if (isDryRun) {
    for (const { find, create } of resources) {
      print(`${find.join(" ")} || wrangler ${create.join(" ")}`);
    }
    print(`${listDatabases.join(" ")}  # its ids and wrangler.toml make ${config}`);
    for (const command of commands) print(command.join(" "));
    return;
  }

  await buildAssets();
  for (const { find, create } of resources) {
    if ((await run("wrangler", find)).code !== 0) await wrangler(create);
  }
  const text = await readFile(inProject("wrangler.toml"), "utf8");
  const listing = await run("wrangler", listDatabases);
  if (listing.code !== 0) throw new Refusal(`the databases cannot be listed:\n${listing.output}`);
  await writeFile(inProject(config), withDatabaseIds(text, listing.output));
  for (const command of commands) await wrangler(command);
});

/**
 * @throws Refusal for unknown arguments, with which the command would do something else than is
 *   meant.
 */
function parseOptions(args: string[]) {
  try {
    return parseArgs({ args, options: { "dry-run": { type: "boolean" } } }).values;
  } catch (error) {
    throw new Refusal(reasonOf(error));
  }
}

function print(command: string): void {
  console.log(`wrangler ${command}`);
}

async function wrangler(args: string[]): Promise<void> {
  // With CI, wrangler does not prompt: running this command is the confirmation.
  const code = await show("wrangler", args, { env: { CI: "true" } });
  if (code !== 0) throw new Refusal(`wrangler ${args.join(" ")} failed`);
}
