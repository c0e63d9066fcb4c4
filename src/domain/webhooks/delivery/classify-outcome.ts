import type { Outcome } from "../../../outgoing/outcome.ts";
import { parseRetryAfter } from "./retry-schedule.ts";

/** What came of an attempt: an outcome of the request, or why there was none. */
export type AttemptOutcome =
  | Outcome
  /** It can't be sent as things are. The reason is public. */
  | { readonly kind: "unsendable"; readonly reason: string }
  /** The receiver is a chat, and there is nothing to say. */
  | { readonly kind: "silent" }
  /** A bug of ours. */
  | { readonly kind: "broken" };

/** What follows from it. */
export type AttemptResult =
  | { readonly kind: "succeeded" | "failed" }
  | {
      readonly kind: "retried";
      /** Nobody answered. */
      readonly isUnanswered: boolean;
      /** How long the receiver asks to be left alone. */
      readonly waitMs: number | undefined;
    };

const SUCCEEDED = { kind: "succeeded" } as const;
const FAILED = { kind: "failed" } as const;
const UNANSWERED = { kind: "retried", isUnanswered: true, waitMs: undefined } as const;

/** Answers that may be others the next time, besides those of 500 and above. */
const PASSING: ReadonlySet<number> = new Set([408, 429]);
/** Answers whose `Retry-After` says when. */
const ASKING: ReadonlySet<number> = new Set([429, 503]);

/** Whether a delivery is done, given up or tried again. */
export function classifyOutcome(outcome: AttemptOutcome, now: number): AttemptResult {
  switch (outcome.kind) {
    case "answered":
    case "too_large": {
      const { status, headers } = outcome;
      if (status >= 200 && status < 300) return SUCCEEDED;
      if (status < 500 && !PASSING.has(status)) return FAILED;
      const asked = ASKING.has(status) ? headers.get("Retry-After") : null;
      return { kind: "retried", isUnanswered: false, waitMs: parseRetryAfter(asked, now) };
    }
    case "network":
    case "timeout":
      return UNANSWERED;
    case "broken":
      return { kind: "retried", isUnanswered: false, waitMs: undefined };
    case "silent":
      return SUCCEEDED;
    case "blocked":
    case "unsendable":
      return FAILED;
    default:
      return outcome satisfies never;
  }
}
