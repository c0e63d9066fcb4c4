import type { Outcome } from "../../../../outgoing/outcome.ts";
import { parseRetryAfter } from "./retry-schedule.ts";

/** The outcome of an attempt: that of the request, or the reason why no request was sent. */
export type AttemptOutcome =
  | Outcome
  /** The request cannot be sent with the current configuration. The reason is public. */
  | { readonly kind: "unsendable"; readonly reason: string }
  /** The receiver is a chat, and the payload makes no message. */
  | { readonly kind: "silent" }
  /** A bug in the service. */
  | { readonly kind: "broken" };

/** How an attempt changes the state of its delivery. */
export type AttemptResult =
  | { readonly kind: "succeeded" | "failed" }
  | {
      readonly kind: "retried";
      /** Whether the receiver sent no response. */
      readonly isUnanswered: boolean;
      /** The delay that the receiver requested. */
      readonly waitMs: number | undefined;
    };

const SUCCEEDED = { kind: "succeeded" } as const;
const FAILED = { kind: "failed" } as const;
const UNANSWERED = { kind: "retried", isUnanswered: true, waitMs: undefined } as const;

/** Statuses below 500 that are retried, since the next response may differ. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 429]);
/** Statuses whose `Retry-After` header is honoured. */
const RETRY_AFTER_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** Whether a delivery has succeeded, has failed, or is retried. */
export function classifyOutcome(outcome: AttemptOutcome, now: number): AttemptResult {
  switch (outcome.kind) {
    case "answered":
    case "too_large": {
      const { status, headers } = outcome;
      if (status >= 200 && status < 300) return SUCCEEDED;
      if (status < 500 && !RETRIED_STATUSES.has(status)) return FAILED;
      const retryAfter = RETRY_AFTER_STATUSES.has(status) ? headers.get("Retry-After") : null;
      return { kind: "retried", isUnanswered: false, waitMs: parseRetryAfter(retryAfter, now) };
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
