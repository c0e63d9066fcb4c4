import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";

import { Refusal } from "../../scripts/refusal.ts";
import { git } from "./git.ts";
import { planHistory } from "./history/plan.ts";
import { streamHistory } from "./history/stream.ts";
import { DIMENSIONS, type Size } from "./sizes.ts";

/** The repository that is pushed and cloned. */
export type Source = {
  size: Size;
  /** A bare repository of one pack. */
  path: string;
  branch: string;
  /** Its branches and tags as `<oid> <name>`, sorted by name. */
  refs: string[];
  /** A repository with one more commit, which shares its other objects with `path`. */
  nextPath: string;
  objects: number;
  packBytes: number;
};

/**
 * Copies a repository's branches and tags into a repository with a single pack of their objects.
 */
export async function copySource(size: Size, from: string, directory: string): Promise<Source> {
  const path = join(directory, `${size}.git`);
  if (!existsSync(from)) throw new Refusal(`the repository ${from} does not exist`);
  await git(directory, ["clone", "--quiet", "--bare", "--no-local", `file://${from}`, path]);
  return describeSource(size, path, directory);
}

/** Generates the repository of a size, unless it is cached. */
export async function makeSource(size: Size, cache: string, directory: string): Promise<Source> {
  const path = join(cache, `${size}-${fingerprint(size)}.git`);
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    for (const old of globSync(`${size}-*.git`, { cwd: cache })) {
      rmSync(join(cache, old), { recursive: true });
    }
    const draft = mkdtempSync(join(cache, "draft-"));
    try {
      await generate(size, draft);
      renameSync(draft, path);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  return describeSource(size, path, directory);
}

/**
 * Identifies the generator's version and input, so that an outdated repository in the cache is not
 * used.
 */
function fingerprint(size: Size): string {
  const hash = createHash("sha256").update(JSON.stringify(DIMENSIONS[size]));
  const directory = new URL("history/", import.meta.url);
  for (const name of globSync("*.ts", { cwd: directory }).toSorted()) {
    hash.update(readFileSync(new URL(name, directory)));
  }
  return hash.digest("hex").slice(0, 12);
}

async function generate(size: Size, path: string): Promise<void> {
  const dimensions = DIMENSIONS[size];
  const plan = planHistory(dimensions);
  await git(path, ["init", "--quiet", "--bare", "--initial-branch=main"]);
  const history = streamHistory(dimensions, plan);
  await git(path, ["fast-import", "--quiet", "--done", "--depth=50"], history);
  await git(path, ["repack", "-a", "-d", "-q"]);
  await git(path, ["pack-refs", "--all"]);
}

async function describeSource(size: Size, path: string, directory: string): Promise<Source> {
  const branch = await git(path, ["symbolic-ref", "--short", "HEAD"]);
  const counts = await git(path, ["count-objects", "-v"]);
  const count = (name: string): number =>
    Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(counts)?.[1]);
  const nextPath = join(directory, `${size}-next.git`);
  await git(directory, ["clone", "--quiet", "--bare", "--shared", path, nextPath]);
  await addCommit(nextPath, branch);
  return {
    size,
    path,
    branch,
    refs: await listRefs(path),
    nextPath,
    objects: count("in-pack"),
    packBytes: count("size-pack") * 1024,
  };
}

export async function listRefs(path: string): Promise<string[]> {
  return (await git(path, ["for-each-ref", "--format=%(objectname) %(refname)"])).split("\n");
}

/** Edits one file in the middle of the tree. */
async function addCommit(path: string, branch: string): Promise<void> {
  const listing = await git(path, ["ls-tree", "-r", "--name-only", branch]);
  const names = listing.split("\n").filter((name) => /^[\w./-]+$/.test(name));
  const name = names[names.length >> 1];
  if (name === undefined) throw new Refusal("the repository has no file to edit");
  const text = `${await git(path, ["show", `${branch}:${name}`])}\nOne line more.\n`;
  const message = "Edit one file\n";
  await git(
    path,
    ["fast-import", "--quiet", "--done"],
    [
      `commit refs/heads/${branch}\n`,
      `committer C O Mitter <committer@example.com> 1700000000 +0000\n`,
      `data ${message.length}\n${message}`,
      `from refs/heads/${branch}^0\n`,
      `M 100644 inline ${name}\n`,
      `data ${Buffer.byteLength(text)}\n${text}\n`,
      "done\n",
    ],
  );
}
