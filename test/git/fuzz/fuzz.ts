import { GitError } from "../../../src/git/error.ts";
import { makeRandom } from "../support/random.ts";
import type { Target } from "./targets.ts";

/**
 * Bytes of one array at most while a target runs: its limits, and what the engine holds whatever
 * it is given.
 */
export const ARRAY_BYTES_MAX = 4 * 1024 * 1024;

/** What a round came to. */
type Outcome = "answered" | "refused";

/** A round that ended in what must not happen, with the input that led there. */
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

/** The input of a round. Rounds do not depend on one another. */
export function makeInput(target: Target, seed: number, round: number): Uint8Array {
  return target.makeInput(makeRandom(Math.imul(seed, 0x9e3779b1) + Math.imul(round, 0x85ebca6b)));
}

/**
 * Gives one input to its parser, which answers or refuses.
 *
 * @throws Finding for any other end.
 */
export async function tryInput(target: Target, input: Uint8Array): Promise<Outcome> {
  try {
    // The parser's own copy: it may change it.
    await target.run(input.slice());
    return "answered";
  } catch (error) {
    if (error instanceof GitError) return "refused";
    throw new Finding(target.name, input, error);
  }
}
