import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { onTestFinished } from "vitest";

import { type Outcome, spawnProgram } from "./run-program.ts";

/** An isolated environment for git: no user configuration, no password prompt. */
export const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "",
  GIT_AUTHOR_NAME: "A U Thor",
  GIT_AUTHOR_EMAIL: "author@example.com",
  GIT_COMMITTER_NAME: "C O Mitter",
  GIT_COMMITTER_EMAIL: "committer@example.com",
  LC_ALL: "C.UTF-8",
};

/** Runs git, which may fail. */
export function tryGit(
  directory: string,
  args: readonly string[],
  input: string | Uint8Array = "",
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return spawnProgram("git", args, { directory, env: { ...ENVIRONMENT, ...env }, input });
}

/** Runs git, which must succeed, and returns its output without the last line feed. */
export async function git(
  directory: string,
  args: readonly string[],
  input?: string | Uint8Array,
): Promise<string> {
  const { code, output, stdout } = await tryGit(directory, args, input);
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
  return stdout.replace(/\n$/, "");
}

/** An empty directory that is removed at the end of the test. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-client-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An empty repository with a working tree. */
export async function makeWork(): Promise<string> {
  const directory = makeDirectory();
  await git(directory, ["init", "--quiet", "--initial-branch=main"]);
  return directory;
}

/** Commits files and returns the commit's id. */
export async function commit(
  directory: string,
  files: Record<string, string>,
  message = "a change",
): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  await git(directory, ["add", "--all"]);
  await git(directory, ["commit", "--quiet", "-m", message]);
  return git(directory, ["rev-parse", "HEAD"]);
}

/** A clone that passes git fsck. */
export async function clone(url: string, ...options: readonly string[]): Promise<string> {
  const parent = makeDirectory();
  await git(parent, ["clone", "--quiet", ...options, url, "clone"]);
  const directory = join(parent, "clone");
  await git(directory, ["fsck", "--strict", "--full"]);
  return directory;
}

/** Refs of a remote, as `<oid> <name>` lines. */
export async function listRemote(url: string): Promise<string[]> {
  const listing = await git(makeDirectory(), ["ls-remote", url]);
  return listing.split("\n").filter((line) => line !== "");
}
