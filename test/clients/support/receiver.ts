import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A running receiver from docs/webhooks.md. */
export interface Receiver {
  readonly url: string;
  /** The lines that it prints, one per handled delivery. */
  handled(): string[];
  stop(): Promise<void>;
}

/** The language block and the command of each receiver. */
const PROGRAMS = {
  Node: { language: "js", file: "receiver.mjs", command: process.execPath },
  Python: { language: "python", file: "receiver.py", command: "python3" },
} as const;
export type Language = keyof typeof PROGRAMS;

const LISTENING = /^listening on (\S+)$/m;

/** Starts a receiver from the document, on a free port. */
export async function startReceiver(
  document: string,
  language: Language,
  secret: string,
): Promise<Receiver> {
  const program = PROGRAMS[language];
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-receiver-"));
  const path = join(directory, program.file);
  writeFileSync(path, readProgram(readFileSync(document, "utf8"), program.language, program.file));

  const env = { PATH: process.env["PATH"], SECRET: secret, PORT: "0" };
  const child = spawn(program.command, [path], { env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", () => LISTENING.test(stdout) && resolve());
    child.once("error", reject);
    child.once("close", () => reject(new Error(`the receiver ended: ${stderr}`)));
  });
  return {
    url: LISTENING.exec(stdout)?.[1] ?? "",
    handled: () =>
      stdout.split("\n").filter((line) => line !== "" && !line.startsWith("listening on ")),
    stop: async () => {
      await end(child);
      rmSync(directory, { recursive: true });
      // An error message of the receiver is a fault of the document.
      if (stderr !== "") throw new Error(stderr);
    },
  };
}

/** The only code block of a language that starts with the name of its file. */
function readProgram(markdown: string, language: string, file: string): string {
  const blocks = [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const found = blocks.filter(
    ([, name, text = ""]) => name === language && new RegExp(`^\\W+${file}\\n`).test(text),
  );
  if (found.length !== 1) throw new Error(`${found.length} programs called ${file}`);
  return found[0]?.[2] ?? "";
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill();
  await closed;
}
