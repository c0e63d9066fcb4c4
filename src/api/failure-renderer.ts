import type { Context } from "hono";

import { FAILURE_STATUS, failureHeaders, reasonHeader } from "../entrance/failure-status.ts";
import { asFailure, CALLER_LEFT_STATUS } from "../entrance/as-failure.ts";
import { Moved } from "../entrance/moved.ts";
import { Failure } from "../lib/failure.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import { logBug } from "../lib/log.ts";
import type { ApiEnv } from "./endpoints.ts";

/** The `url` of every error response: the API documentation. */
const documentationUrl = (rootUrl: string): string => `${rootUrl}/api/swagger`;

/**
 * Renders what a guard or operation threw as an error response of the API.
 *
 * SECURITY: an error that is not a `Failure` is a bug. The response contains the request id and
 * nothing of the error's text, which could leak internals.
 */
export function renderFailure(
  thrown: unknown,
  c: Pick<Context<ApiEnv>, "var" | "redirect" | "body" | "json">,
): Response {
  const { requestId, rootUrl } = c.var;
  const url = documentationUrl(rootUrl);
  if (thrown instanceof CallerLeft) return new Response(null, { status: CALLER_LEFT_STATUS });
  const error = asFailure(thrown);
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Failure) {
    if (error.kind === "not_found") {
      return c.body(null, 404, { ...reasonHeader("not-found"), ...failureHeaders(error) });
    }
    const body = { ...error.details, message: error.message, url };
    return c.json(body, FAILURE_STATUS[error.kind], failureHeaders(error));
  }
  logBug(requestId, error);
  return c.json({ message: `internal error, request ${requestId}`, url }, 500);
}
