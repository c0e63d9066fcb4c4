import { describe, expect, it } from "vitest";

import { asFailure } from "../../src/entrance/as-failure.ts";
import { FAILURE_STATUS } from "../../src/entrance/failure-status.ts";
import { type Failure, invalid } from "../../src/lib/failure.ts";

const full = (message: string): Error => new Error("failed query", { cause: new Error(message) });

describe("storage without space", () => {
  it.each([
    new Error("D1_ERROR: database or disk is full: SQLITE_FULL"),
    full("database or disk is full: SQLITE_FULL"),
    full("D1_ERROR: Exceeded maximum DB size"),
    new Error("put: No space left on device. (10001)"),
  ])("is a refusal with 507, whichever part of it is full: %s", (error) => {
    const failure = asFailure(error);
    expect(failure).toMatchObject({ kind: "no_space", message: "the service has no space left" });
    expect(FAILURE_STATUS[(failure as Failure).kind]).toBe(507);
  });

  it("is not what a caller's text says, nor another error", () => {
    for (const error of [invalid("no space left on device"), new Error("UNIQUE constraint")]) {
      expect(asFailure(error)).toBe(error);
    }
  });
});
