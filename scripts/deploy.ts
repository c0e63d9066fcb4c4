/**
 * `npm run deploy`: creates what the account lacks, applies the migrations, deploys.
 * `npm run deploy -- --dry-run` only prints the commands.
 *
 * wrangler.toml stays as it is: with the ids of the account it becomes wrangler.deploy.toml, which is written anew
 * each time and which git ignores. So any account can deploy the same checkout.
 */
import { readFile, writeFile } from "node:fs/promises";

import { buildAssets } from "./build/assets.ts";
import { withDatabaseIds } from "./deploy/database-ids.ts";
import { resourcesOf } from "./deploy/resources.ts";
import { inProject } from "./project.ts";
import { Refusal, tell } from "./refusal.ts";
import { run, show } from "./tools/run.ts";
import { readWranglerToml } from "./tools/wrangler-toml.ts";

const config = "wrangler.deploy.toml";

await tell(async () => {
  const { toml } = readWranglerToml();
  const resources = resourcesOf(toml);
  const listDatabases = ["d1", "list", "--json"];
  // The schema first: a migration keeps the Worker that still runs working, a new Worker needs its schema.
  const commands = [
    ...toml.d1_databases.map(({ database_name: name }) => [
      "d1",
      "migrations",
      "apply",
      name,
      "--remote",
      "-c",
      config,
    ]),
    ["deploy", "-c", config],
  ];

  if (process.argv.includes("--dry-run")) {
    for (const { look, create } of resources)
      print(`${look.join(" ")} || wrangler ${create.join(" ")}`);
    print(`${listDatabases.join(" ")}  # its ids and wrangler.toml make ${config}`);
    for (const command of commands) print(command.join(" "));
    return;
  }

  await buildAssets();
  for (const { look, create } of resources) {
    if ((await run("wrangler", look)).code !== 0) await wrangler(create);
  }
  const text = await readFile(inProject("wrangler.toml"), "utf8");
  const listing = await run("wrangler", listDatabases);
  if (listing.code !== 0) throw new Refusal(`the databases cannot be listed:\n${listing.output}`);
  await writeFile(inProject(config), withDatabaseIds(text, listing.output));
  for (const command of commands) await wrangler(command);
});

function print(command: string): void {
  console.log(`wrangler ${command}`);
}

async function wrangler(args: string[]): Promise<void> {
  // With CI it asks nothing: who deploys has already said what they want.
  const code = await show("wrangler", args, { env: { CI: "true" } });
  if (code !== 0) throw new Refusal(`wrangler ${args.join(" ")} failed`);
}
