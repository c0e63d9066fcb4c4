import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { devNull } from "node:os";

/** An isolated environment for git: no user configuration, no prompts, no automatic maintenance. */
export const GIT_ENVIRONMENT: Record<string, string | undefined> = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: devNull,
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "",
  GIT_AUTHOR_NAME: "A U Thor",
  GIT_AUTHOR_EMAIL: "author@example.com",
  GIT_COMMITTER_NAME: "C O Mitter",
  GIT_COMMITTER_EMAIL: "committer@example.com",
  LC_ALL: "C.UTF-8",
  // git gc would start automatically after a push, on one of the two sides only.
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "gc.auto",
  GIT_CONFIG_VALUE_0: "0",
  GIT_CONFIG_KEY_1: "maintenance.auto",
  GIT_CONFIG_VALUE_1: "false",
};

/** Bytes for the standard input of a process, produced on demand. */
type Input = Iterable<Buffer | string>;

const INPUT_CHUNK_BYTES = 1024 * 1024;

const running = new Set<ChildProcessWithoutNullStreams>();

/**
 * Runs git to its end and returns its output, without the last line feed.
 *
 * @throws Error with git's error output if it fails.
 */
export async function git(directory: string, args: string[], input: Input = []): Promise<string> {
  // Its own process group: git starts child processes, which would outlive it.
  const options = { cwd: directory, env: GIT_ENVIRONMENT, detached: true };
  const child = spawn("git", args, options);
  running.add(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  try {
    child.stdin.on("error", () => {
      // Git may exit before it has read its input; the exit code shows whether that is an error.
    });
    await feed(child, input);
    if ((await ended) === 0) return stdout.replace(/\n$/, "");
  } finally {
    running.delete(child);
  }
  throw new Error(`git ${args.join(" ").slice(0, 200)}: ${stderr.trim()}`);
}

async function feed({ stdin }: ChildProcessWithoutNullStreams, input: Input): Promise<void> {
  const closed = new Promise((resolve) => stdin.once("close", resolve));
  let pieces: Buffer[] = [];
  let bytes = 0;
  for (const piece of input) {
    const buffer = typeof piece === "string" ? Buffer.from(piece) : piece;
    bytes += buffer.length;
    pieces.push(buffer);
    if (bytes < INPUT_CHUNK_BYTES) continue;
    const isFull = !stdin.write(Buffer.concat(pieces));
    [pieces, bytes] = [[], 0];
    if (isFull)
      await Promise.race([new Promise((resolve) => stdin.once("drain", resolve)), closed]);
  }
  stdin.end(Buffer.concat(pieces));
}

/** Stops every git process that still runs. */
export async function stopGit(): Promise<void> {
  const ends = [...running].map((child) => once(child, "close"));
  for (const { pid } of running) if (pid !== undefined) process.kill(-pid, "SIGTERM");
  await Promise.all(ends);
}
