import { execFileSync } from "node:child_process";

import { inProject } from "../../../scripts/project.ts";
import { ENVIRONMENT, git, makeDirectory } from "./git.ts";

/**
 * A repository with all elements of histories: merges, an octopus merge, an orphan branch, tags of
 * tags and of blobs, notes, a submodule entry, a symlink, an executable, non-ASCII names, a file
 * that was only renamed, and commit dates that decrease.
 */
export async function makeHistory(): Promise<string> {
  const directory = makeDirectory();
  execFileSync("sh", [inProject("test/git/fixtures/history.sh")], {
    cwd: directory,
    env: ENVIRONMENT,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await git(directory, ["notes", "add", "-m", "a note", "main"]);
  await git(directory, ["notes", "add", "-m", "another", "main~3"]);
  await git(directory, ["tag", "-a", "-m", "a blob", "of-a-blob", "main:README.md"]);
  await git(directory, ["tag", "-a", "-m", "a tree", "of-a-tree", "main:docs"]);
  await git(directory, ["tag", "a-blob", "main:README.md"]);
  await git(directory, ["tag", "-a", "-m", "deep", "of-nested", "nested"]);
  await git(directory, ["branch", "täst/日本", "main~2"]);
  return directory;
}
