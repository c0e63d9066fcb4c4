import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An isolated environment for git: no user configuration, and the same ids in every run. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A U Thor",
  GIT_AUTHOR_EMAIL: "author@example.com",
  GIT_AUTHOR_DATE: "1700000000 +0100",
  GIT_COMMITTER_NAME: "C O Mitter",
  GIT_COMMITTER_EMAIL: "committer@example.com",
  GIT_COMMITTER_DATE: "1700000000 +0100",
  LC_ALL: "C",
};

export interface GitOptions {
  /** Standard input of git. */
  readonly input?: Uint8Array | string;
  /** Return the output of both streams even if git fails. */
  readonly mayFail?: boolean;
  readonly env?: Record<string, string>;
}

/** Runs git in `directory` and returns its standard output as bytes. */
export function gitBytes(
  directory: string,
  args: readonly string[],
  options: GitOptions = {},
): Buffer {
  const { status, stdout, stderr } = spawnSync("git", args, {
    cwd: directory,
    env: { ...ENVIRONMENT, ...options.env },
    input: options.input ?? "",
    maxBuffer: 1 << 30,
  });
  if (options.mayFail) return Buffer.concat([stdout, stderr]);
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`);
  return stdout;
}

/** Runs git in `directory` and returns its standard output as text without the last line feed. */
export function git(directory: string, args: readonly string[], options: GitOptions = {}): string {
  return gitBytes(directory, args, options).toString("latin1").replace(/\n$/, "");
}

/**
 * Makes an empty directory. It is removed after the test, or at process exit if made outside of a
 * test.
 */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-git-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    onTestFinished(remove);
  } catch {
    // Outside of a test, only the end of the process can trigger the removal.
    process.once("exit", remove);
  }
  return directory;
}

/** Makes an empty bare repository. */
export function makeRepository(): string {
  const directory = makeDirectory();
  git(directory, ["init", "--quiet", "--bare", "--initial-branch=main"]);
  return directory;
}

/** Makes a repository with one of the scripts in `test/git/fixtures/`. */
export function makeFixture(name: string, ...args: readonly string[]): string {
  const directory = makeDirectory();
  execFileSync("sh", [join(import.meta.dirname, "../fixtures", `${name}.sh`), ...args], {
    cwd: directory,
    env: ENVIRONMENT,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return directory;
}
