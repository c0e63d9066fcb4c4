/**
 * `npm run mutate -- --count 30 --seed 7`: changes guards, bounds and events one by one, and shows
 * for how many of these changes a test fails.
 *
 * Each change is tried with the tests of the same folder first, then with all of them, until one
 * fails. It is made in the sources, which must have no uncommitted changes, and taken back.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

import { chooseMutations, findMutations, mutate, type Mutation } from "./mutate/mutations.ts";
import { inProject } from "./project.ts";
import { Refusal, runScript } from "./refusal.ts";
import { run } from "./tools/run.ts";

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      count: { type: "string", default: "30" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
  });
  await requireClean();
  const sources = readdirSync(inProject("src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .toSorted()
    .map((name) => ({ file: `src/${name}`, text: readFileSync(inProject(`src/${name}`), "utf8") }));
  const chosen = chooseMutations(findMutations(sources), Number(values.count), Number(values.seed));

  let caught = 0;
  for (const mutation of chosen) {
    const isCaught = await isNoticed(mutation);
    if (isCaught) caught++;
    const { kind, file, line, after } = mutation;
    console.log(`${isCaught ? "caught " : "MISSED "} ${kind} ${file}:${line}  ${after.trim()}`);
  }
  console.log(`${caught} of ${chosen.length} caught, seed ${values.seed}`);
});

/** Whether a test fails with a mutation. */
async function isNoticed(mutation: Mutation): Promise<boolean> {
  const path = inProject(mutation.file);
  const text = readFileSync(path, "utf8");
  const restore = () => writeFileSync(path, text);
  process.once("exit", restore);
  writeFileSync(path, mutate(text, mutation));
  try {
    const folder = testFolderOf(mutation.file);
    return (folder !== undefined && (await fails([folder]))) || (await fails([]));
  } finally {
    restore();
    process.off("exit", restore);
  }
}

/** The nearest folder of tests for a source: `test/domain/issues/lists/` for that of `src`. */
function testFolderOf(file: string): string | undefined {
  for (let path = dirname(file); path.includes("/"); path = dirname(path)) {
    const folder = path.replace(/^src/, "test");
    if (existsSync(inProject(folder))) return `${folder}/`;
  }
  return undefined;
}

async function fails(paths: readonly string[]): Promise<boolean> {
  const projects = ["--project", "node", "--project", "worker"];
  const args = ["run", ...projects, "--maxWorkers=1", "--bail=1", "--reporter=dot", ...paths];
  return (await run("vitest", args)).code !== 0;
}

async function requireClean(): Promise<void> {
  const { code, output } = await run("git", ["status", "--porcelain", "src"]);
  if (code !== 0 || output.trim() !== "") throw new Refusal("src has uncommitted changes");
}
