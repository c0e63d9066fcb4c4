import { expect } from "vitest";

import type { Answer } from "../call.ts";
import type { SampledOperation } from "./gather.ts";

/** Requires that a sample's request succeeded, or was refused as the sample says. */
export function expectOutcome(answer: Answer, { sample: { refusal } }: SampledOperation): void {
  const outcome = answer.status < 300 ? "success" : answer.status;
  expect(outcome, JSON.stringify(answer.body)).toBe(refusal?.status ?? "success");
}
