import type { Failure, FailureKind } from "../lib/failure.ts";

/** The HTTP status of each kind of failure. */
export const FAILURE_STATUS = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  not_applicable: 405,
  conflict: 409,
  too_large: 413,
  locked: 423,
  too_many: 429,
} as const satisfies Record<FailureKind, number>;

/** The statuses for git and Git LFS, whose clients do not know 423. */
export const GIT_FAILURE_STATUS = { ...FAILURE_STATUS, locked: 403 } as const;

/** The headers of a refusal that are the same at every door. */
export const failureHeaders = ({ retryAfterSeconds }: Failure): Record<string, string> =>
  retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
