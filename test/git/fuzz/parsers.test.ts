import { afterAll, beforeAll, expect, it } from "vitest";
import { boundAllocations } from "./allocations.ts";
import { ARRAY_BYTES_MAX, Finding, makeInput, tryInput } from "./fuzz.ts";
import { makeTargets } from "./targets.ts";

/** Rounds per target. All targets together take some seconds; `npm run fuzz` runs for longer. */
const ROUNDS = 2000;
const SEED = 1;

const targets = await makeTargets();

let release: (() => void) | undefined;
beforeAll(() => void (release = boundAllocations(ARRAY_BYTES_MAX)));
afterAll(() => release?.());

it.each(targets)("parses or refuses damaged input: $name", async (target) => {
  let refused = 0;
  const rounds = Math.ceil(ROUNDS / (target.weight ?? 1));
  for (let round = 0; round < rounds; round++) {
    const input = makeInput(target, SEED, round);
    try {
      if ((await tryInput(target, input)) === "refused") refused++;
    } catch (error) {
      if (!(error instanceof Finding)) throw error;
      const text = Buffer.from(input).toString("base64");
      throw new Error(`round ${round}: ${text}`, { cause: error });
    }
  }
  // If no input were refused, the damage would not have reached the parser's checks.
  expect(refused).toBeGreaterThan(0);
});
