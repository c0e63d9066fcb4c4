import { GitError } from "../../../src/git/error.ts";
import { makeRandom } from "../support/random.ts";
import type { Target } from "./targets.ts";

/**
 * Largest array in bytes while a target runs. It allows for the target's limits and for the arrays
 * that the engine allocates for any input.
 */
export const ARRAY_BYTES_MAX = 4 * 1024 * 1024;

/** The outcome of a round. */
type Outcome = "answered" | "refused";

/** A round that failed with an unexpected error, with its input. */
export class Finding extends Error {
  readonly target: string;
  readonly input: Uint8Array;

  constructor(target: string, input: Uint8Array, cause: unknown) {
    super(`${target}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "Finding";
    this.target = target;
    this.input = input;
  }
}

/** The input of a round. Rounds are independent of each other. */
export function makeInput(target: Target, seed: number, round: number): Uint8Array {
  return target.makeInput(makeRandom(Math.imul(seed, 0x9e3779b1) + Math.imul(round, 0x85ebca6b)));
}

/**
 * Runs a target's parser on one input, which must return or throw a `GitError`.
 *
 * @throws Finding for any other error.
 */
export async function tryInput(target: Target, input: Uint8Array): Promise<Outcome> {
  try {
    // A copy, because the parser may modify its input.
    await target.run(input.slice());
    return "answered";
  } catch (error) {
    if (error instanceof GitError) return "refused";
    throw new Finding(target.name, input, error);
  }
}
