import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
import { byId, isRead, sampled } from "../support/samples/gather.ts";
import { expectOutcome } from "../support/samples/outcome.ts";
import type { Sample } from "../support/samples/sample.ts";
import { requestMaker } from "../support/samples/request.ts";
import { logged } from "../support/usage.ts";

/** Upper bound of sequential D1 calls: each is a round trip to a database that may be far away. */
const READ_ROUNDS_MAX = 2;
const WRITE_ROUNDS_MAX = 3;

const makeRequest = requestMaker();

const extraRoundsOf = ({ extraRound, extraRounds = 1 }: Sample): number =>
  extraRound === undefined ? 0 : extraRounds;

describe("round trips to D1", () => {
  it.each(byId(sampled))(
    "stay within the budget for authenticated callers: %s",
    async (_, operation) => {
      const { method, path, content, caller } = await makeRequest(operation);
      const { answer, line } = await logged(() => call(method, path, { as: caller, ...content }));
      expectOutcome(answer, operation);
      const roundsMax = isRead(operation) ? READ_ROUNDS_MAX : WRITE_ROUNDS_MAX;
      expect(line.d1Rounds).toBeLessThanOrEqual(roundsMax + extraRoundsOf(operation.sample));
    },
  );

  it.each(byId(sampled.filter(({ allowsAnonymous }) => allowsAnonymous)))(
    "stay within the budget for anonymous callers: %s",
    async (_, operation) => {
      const { method, path, content } = await makeRequest(operation);
      const { answer, line } = await logged(() => call(method, path, content));
      expectOutcome(answer, operation);
      const { usesNoDatabase } = operation.sample;
      expect(line.d1Rounds).toBeLessThanOrEqual(
        usesNoDatabase ? 0 : READ_ROUNDS_MAX + extraRoundsOf(operation.sample),
      );
    },
  );
});
