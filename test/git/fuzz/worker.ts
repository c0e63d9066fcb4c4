import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { boundAllocations } from "./allocations.ts";
import { ARRAY_BYTES_MAX, Finding, makeInput, tryInput } from "./fuzz.ts";
import { makeTargets } from "./targets.ts";

/** Longest input in bytes that is saved when a round hangs; longer inputs are truncated. */
export const INPUT_BYTES_MAX = 1 << 20;

/** The task of the fuzzer in its worker thread. */
export interface Job {
  readonly seed: number;
  /** In milliseconds since 1970. */
  readonly endsAt: number;
  /** The only target to run; undefined for all. */
  readonly target: string | undefined;
  /** Number of the round, length of its input, and the input. */
  readonly shared: SharedArrayBuffer;
}

/** The messages that the worker sends. */
export type Report =
  | { readonly kind: "target"; readonly name: string }
  | { readonly kind: "counted"; readonly words: string }
  | { readonly kind: "found"; readonly words: string; readonly input: Uint8Array }
  | { readonly kind: "ended" };

/** How long a target of weight 1 runs before the next target, in milliseconds. */
const TURN_MS = 300;

if (parentPort) await work(parentPort, workerData as Job);

async function work(port: MessagePort, job: Job): Promise<void> {
  const { seed, endsAt, target: chosen, shared } = job;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const send = (report: Report): void => port.postMessage(report);
  const all = await makeTargets();
  const targets = all.filter(({ name }) => chosen === undefined || name === chosen);
  if (targets.length === 0) throw new Error(`no target "${chosen}"`);
  const counts = new Map<string, { rounds: number; refused: number }>();
  const [number, length] = [new Int32Array(shared, 0, 1), new Int32Array(shared, 4, 1)];
  const kept = new Uint8Array(shared, 8);
  const release = boundAllocations(ARRAY_BYTES_MAX);
  try {
    while (Date.now() < endsAt) {
      for (const target of targets) {
        send({ kind: "target", name: target.name });
        const count = counts.get(target.name) ?? { rounds: 0, refused: 0 };
        counts.set(target.name, count);
        const turnEndsAt = Math.min(endsAt, Date.now() + TURN_MS * (target.weight ?? 1));
        while (Date.now() < turnEndsAt) {
          const input = makeInput(target, seed, count.rounds++);
          kept.set(input.subarray(0, INPUT_BYTES_MAX));
          Atomics.store(length, 0, Math.min(input.length, INPUT_BYTES_MAX));
          Atomics.add(number, 0, 1);
          if ((await tryInput(target, input)) === "refused") count.refused++;
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    const stack = error.cause instanceof Error ? error.cause.stack : String(error.cause);
    send({ kind: "found", words: `${error.message}\n${stack}`, input: error.input });
    return;
  } finally {
    release();
  }
  for (const [name, { rounds, refused }] of counts) {
    send({ kind: "counted", words: `${name}: ${rounds} rounds, ${refused} refused` });
  }
  send({ kind: "ended" });
}
