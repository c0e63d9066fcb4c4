import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { inProject } from "../../../scripts/project.ts";

/** The version that the tests use. */
const VERSION = "3.3.0";

/** Cache directory of the client between runs. */
const CACHE = inProject("node_modules/.cache");
const DIRECTORY = join(CACHE, `git-lfs-${VERSION}`);

/**
 * The directory of the program `git-lfs`, for git's PATH. The program is extracted from the
 * system's package and cached; nothing is installed on the machine.
 *
 * @throws Error if it is not available: a test that did not run must not count as passed.
 */
export function findGitLfs(): string {
  if (!existsSync(DIRECTORY)) unpack();
  const bin = join(DIRECTORY, "usr/bin");
  const version = execFileSync(join(bin, "git-lfs"), ["version"], { encoding: "utf8" });
  if (!version.startsWith(`git-lfs/${VERSION} `)) throw new Error(`not ${VERSION}: ${version}`);
  return bin;
}

function unpack(): void {
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "git-lfs-draft-"));
  try {
    download(draft);
    const archive = readdirSync(draft).find((name) => name.endsWith(".deb")) ?? "";
    execFileSync("dpkg", ["-x", join(draft, archive), draft]);
    rmSync(join(draft, archive));
    renameSync(draft, DIRECTORY);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function download(directory: string): void {
  const options = { cwd: directory, stdio: "pipe", encoding: "utf8" } as const;
  const get = (): string => execFileSync("apt-get", ["download", `git-lfs=${VERSION}*`], options);
  try {
    get();
  } catch {
    // The package list may be outdated or missing.
    try {
      execFileSync("apt-get", ["update"], options);
      get();
    } catch (error) {
      throw new Error(
        `git-lfs ${VERSION} can't be had from the packages of this system: unpack it below ${DIRECTORY}`,
        { cause: error },
      );
    }
  }
}
