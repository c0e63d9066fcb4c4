import {
  BeyondToken,
  type BindingReason,
  type Failure,
  type FailureKind,
  NotFound,
  type NotFoundReason,
} from "../lib/failure.ts";

/** The HTTP status of each kind of failure. */
export const FAILURE_STATUS = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  not_applicable: 405,
  conflict: 409,
  gone: 410,
  precondition: 412,
  too_large: 413,
  locked: 423,
  too_many: 429,
  no_space: 507,
} as const satisfies Record<FailureKind, number>;

/** The statuses for git and Git LFS, whose clients do not know 423. */
export const GIT_FAILURE_STATUS = { ...FAILURE_STATUS, locked: 403 } as const;

/** The header with the reason, a word: what is not found, or which binding of a token refuses. */
const REASON_HEADER = "X-Edgeforge-Reason";

export const reasonHeader = (reason: NotFoundReason | BindingReason): Record<string, string> => ({
  [REASON_HEADER]: reason,
});

/** The headers of a refusal that are the same at every door. */
export const failureHeaders = (failure: Failure): Record<string, string> => {
  const { retryAfterSeconds } = failure;
  const hasReason = failure instanceof NotFound || failure instanceof BeyondToken;
  return {
    ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }),
    ...(hasReason && reasonHeader(failure.reason)),
  };
};
