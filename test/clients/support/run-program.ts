import { execFileSync, spawn } from "node:child_process";

export interface Outcome {
  readonly code: number | null;
  /** Output of both streams. */
  readonly output: string;
  readonly stdout: string;
}

/** Where and how a program runs. */
export interface ProgramOptions {
  readonly directory: string;
  /** Besides `PATH` and the language. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a program, which may fail. Nothing of this machine's user is in its environment. */
export function tryProgram(
  program: string,
  args: readonly string[],
  { directory, env = {}, input }: ProgramOptions,
): Promise<Outcome> {
  const plain = { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8", HOME: directory };
  return spawnProgram(program, args, { directory, env: { ...plain, ...env }, input });
}

/** Runs a program, which may fail, with exactly this environment. */
export function spawnProgram(
  program: string,
  args: readonly string[],
  {
    directory,
    env,
    input = "",
  }: {
    readonly directory: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input?: string | Uint8Array | undefined;
  },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, env });
    let output = "";
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output, stdout }));
    child.stdin.on("error", () => {
      // A program may exit before it has read its input; the exit code shows whether that is an
      // error.
    });
    child.stdin.end(input);
  });
}

/** Runs a program, which must succeed, and returns what it printed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  const { code, output, stdout } = await tryProgram(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output}`);
  return stdout;
}

/** Whether a program is installed. */
export function hasProgram(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
