// Stores and reads artifacts with the package of actions, as a step of a job does:
//   node artifact-client.mjs PACKAGE upload NAME FOLDER | list | download NAME FOLDER | delete NAME
// Prints a line `result` with what the package returns as JSON, or `refused` with its message.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packagePath, command, name, folder] = process.argv.slice(2);
const { main } = JSON.parse(readFileSync(join(packagePath, "package.json"), "utf8"));
const loaded = await import(pathToFileURL(join(packagePath, main)));
const library = [loaded, loaded.default].find((each) => each.DefaultArtifactClient ?? each.create);

const filesIn = (root) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));

/** Of versions 2 and on. */
async function run(client) {
  switch (command) {
    case "upload": {
      const skipArchive = process.env.SKIP_ARCHIVE === "true";
      return client.uploadArtifact(name, filesIn(folder), folder, {
        retentionDays: 2,
        skipArchive,
      });
    }
    case "list":
      return client.listArtifacts();
    case "download": {
      const { FIND_BY } = process.env;
      const findBy = FIND_BY ? { findBy: JSON.parse(FIND_BY) } : {};
      const { artifact } = await client.getArtifact(name, findBy);
      const expectedHash = artifact.digest;
      return client.downloadArtifact(artifact.id, { path: folder, expectedHash, ...findBy });
    }
    default:
      return client.deleteArtifact(name);
  }
}

/** Of version 1. */
function runFirst(client) {
  return command === "upload"
    ? client.uploadArtifact(name, filesIn(folder), folder, { continueOnError: false })
    : client.downloadArtifact(name, folder, { createArtifactFolder: false });
}

try {
  const result = library.DefaultArtifactClient
    ? await run(new library.DefaultArtifactClient())
    : await runFirst(library.create());
  console.log(`result ${JSON.stringify(result)}`);
} catch (error) {
  console.log(`refused ${error.message.replaceAll("\n", " ")}`);
}
