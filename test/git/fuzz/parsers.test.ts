import { afterAll, beforeAll, expect, it } from "vitest";
import { boundAllocations } from "./allocations.ts";
import { ARRAY_BYTES_MAX, Finding, makeInput, tryInput } from "./fuzz.ts";
import { makeTargets } from "./targets.ts";

/** Rounds of each target: all of them together take some seconds. `npm run fuzz` goes on. */
const ROUNDS = 2000;
const SEED = 1;

const targets = await makeTargets();

let release: (() => void) | undefined;
beforeAll(() => void (release = boundAllocations(ARRAY_BYTES_MAX)));
afterAll(() => release?.());

it.each(targets)("$name", async (target) => {
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
  // Damage that is never noticed would mean that nothing was tested.
  expect(refused).toBeGreaterThan(0);
});
