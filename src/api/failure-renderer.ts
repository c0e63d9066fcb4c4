import type { Context } from "hono";

import { Failure, type FailureKind } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import type { ApiEnv } from "./endpoints.ts";
import { Moved } from "./guards/moved.ts";

const STATUS = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  locked: 423,
  too_many: 429,
} as const satisfies Record<FailureKind, number>;

/** Where every refusal points: the documentation of the interface. */
const documentationUrl = (rootUrl: string): string => `${rootUrl}/api/swagger`;

/**
 * Answers what a guard, an operation or a bug threw, in the API's dialect.
 *
 * SECURITY: what is no `Failure` is a bug of ours; of its text nothing is answered but the request
 * it happened in.
 */
export function renderFailure(error: unknown, c: Context<ApiEnv>): Response {
  const { requestId, rootUrl } = c.var;
  const url = documentationUrl(rootUrl);
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Failure) {
    if (error.kind === "not_found") return c.body(null, 404);
    return c.json({ ...error.details, message: error.message, url }, STATUS[error.kind]);
  }
  logBug(requestId, error);
  return c.json({ message: `internal error, request ${requestId}`, url }, 500);
}
