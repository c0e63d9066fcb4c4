/**
 * `npm run fuzz -- --minutes 10 --seed 7`: runs the targets of `parsers.test.ts` for longer.
 *
 * `--target <name>` selects a single target; together with it, `--input <file>` repeats a saved
 * input. The input of a finding is saved in the directory for temporary files, and its path is
 * printed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { tryInput } from "./fuzz.ts";
import { makeTargets } from "./targets.ts";
import { INPUT_BYTES_MAX, type Job, type Report } from "./worker.ts";

/** An input that takes longer than this counts as a hang, in milliseconds. */
const HANG_MS = 20_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    target: { type: "string" },
    input: { type: "string" },
  },
});

if (values.input === undefined) {
  process.exitCode = await fuzz(Number(values.minutes), Number(values.seed), values.target);
} else {
  const target = (await makeTargets()).find(({ name }) => name === values.target);
  if (!target) throw new Error("--input goes with --target, by its name");
  console.log(await tryInput(target, Uint8Array.from(readFileSync(values.input))));
}

/** @returns The exit code: 1 if something was found. */
async function fuzz(minutes: number, seed: number, target: string | undefined): Promise<number> {
  if (!(minutes > 0) || !Number.isSafeInteger(seed))
    throw new Error("--minutes and --seed are numbers");
  console.log(`seed ${seed}, ${minutes} minutes`);
  // The round number, then the length and bytes of its input, readable here even if the round never
  // ends.
  const shared = new SharedArrayBuffer(8 + INPUT_BYTES_MAX);
  const job: Job = { seed, endsAt: Date.now() + minutes * 60_000, target, shared };
  const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: job });
  const [round, length] = [new Int32Array(shared, 0, 1), new Int32Array(shared, 4, 1)];
  let running = { round: 0, name: "", since: Date.now() };

  return new Promise((resolve, reject) => {
    const watch = setInterval(() => {
      const now = Atomics.load(round, 0);
      if (now !== running.round) running = { ...running, round: now, since: Date.now() };
      if (now === 0 || Date.now() - running.since < HANG_MS) return;
      const input = new Uint8Array(shared, 8, Atomics.load(length, 0)).slice();
      end(1, `${running.name}: hangs`, input);
    }, 1000);

    function end(code: number, words: string, input?: Uint8Array): void {
      clearInterval(watch);
      console.log(words);
      if (input) {
        const file = join(tmpdir(), `edgeforge-fuzz-${seed}-${Date.now()}.bin`);
        writeFileSync(file, input);
        console.log(`repeat: npm run fuzz -- --target "${running.name}" --input ${file}`);
      }
      void worker.terminate().then(() => resolve(code));
    }

    worker.on("message", (report: Report) => {
      if (report.kind === "target") running = { ...running, name: report.name, since: Date.now() };
      else if (report.kind === "counted") console.log(report.words);
      else if (report.kind === "found") end(1, report.words, report.input);
      else end(0, "nothing found");
    });
    worker.once("error", (error) => {
      clearInterval(watch);
      reject(error);
    });
  });
}
