import type { Context } from "hono";

import { FAILURE_STATUS } from "../entrance/failure-status.ts";
import { Moved } from "../entrance/moved.ts";
import { Failure } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import type { WebEnv } from "./env.ts";

/** Renders a thrown error as plain text. */
export function renderFailure(error: unknown, c: Context<WebEnv>): Response {
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Failure) {
    if (error.kind === "not_found") return c.text("404 page not found\n", 404);
    if (error.kind === "unauthenticated") {
      c.header("WWW-Authenticate", 'Basic realm="Edgeforge", charset="UTF-8"');
    }
    return c.text(`${error.message}\n`, FAILURE_STATUS[error.kind]);
  }
  logBug(c.var.requestId, error);
  return c.text(`internal error, request ${c.var.requestId}\n`, 500);
}
