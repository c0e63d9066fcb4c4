import type { Context } from "hono";

import { FAILURE_STATUS, failureHeaders } from "../entrance/failure-status.ts";
import { asFailure, CALLER_LEFT_STATUS } from "../entrance/as-failure.ts";
import { Moved } from "../entrance/moved.ts";
import { Failure } from "../lib/failure.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import { logBug } from "../lib/log.ts";
import type { WebEnv } from "./env.ts";

/** Renders a thrown error as plain text. */
export function renderFailure(thrown: unknown, c: Context<WebEnv>): Response {
  if (thrown instanceof CallerLeft) return new Response(null, { status: CALLER_LEFT_STATUS });
  const error = asFailure(thrown);
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Failure) {
    if (error.kind === "not_found") return c.text("404 page not found\n", 404);
    if (error.kind === "unauthenticated") {
      c.header("WWW-Authenticate", 'Basic realm="Edgeforge", charset="UTF-8"');
    }
    return c.text(`${error.message}\n`, FAILURE_STATUS[error.kind], failureHeaders(error));
  }
  logBug(c.var.requestId, error);
  return c.text(`internal error, request ${c.var.requestId}\n`, 500);
}
