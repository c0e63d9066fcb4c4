import type { Context } from "hono";

import { FAILURE_STATUS } from "../entrance/failure-status.ts";
import { Moved } from "../entrance/moved.ts";
import { Failure } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import type { ApiEnv } from "./endpoints.ts";

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
    return c.json({ ...error.details, message: error.message, url }, FAILURE_STATUS[error.kind]);
  }
  logBug(requestId, error);
  return c.json({ message: `internal error, request ${requestId}`, url }, 500);
}
