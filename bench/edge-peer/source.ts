import { mkdtempSync } from "node:fs";
import { join } from "node:path";

import { git } from "../git/git.ts";
import type { Size } from "../git/sizes.ts";
import { copySource, makeSource, type Source } from "../git/source.ts";

/** Commits that alchemy takes in one push. */
const COMMITS_MAX = 2500;

/** The oldest commits of the repository of a size, with the refs at these, in one pack. */
export async function makeShortSource(
  size: Size,
  cache: string,
  directory: string,
): Promise<Source> {
  const scratch = mkdtempSync(join(directory, "whole-"));
  const { path, branch } = await makeSource(size, cache, scratch);
  const cut = join(scratch, "cut.git");
  await git(scratch, ["clone", "--quiet", "--bare", "--shared", path, cut]);
  const oldest = await git(cut, ["rev-list", "--topo-order", "--reverse", branch]);
  const tip = oldest.split("\n").slice(0, COMMITS_MAX).at(-1) ?? branch;
  await git(cut, ["update-ref", `refs/heads/${branch}`, tip]);
  const later = await git(cut, [
    "for-each-ref",
    "--format=delete %(refname)",
    `--no-merged=${tip}`,
  ]);
  await git(cut, ["update-ref", "--stdin"], [`${later}\n`]);
  return copySource(size, cut, directory);
}
