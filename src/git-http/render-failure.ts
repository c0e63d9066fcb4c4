import type { Context } from "hono";

import { asFailure, CALLER_LEFT_STATUS, isOfFullStorage } from "../entrance/as-failure.ts";
import { failureHeaders, GIT_FAILURE_STATUS } from "../entrance/failure-status.ts";
import { Moved } from "../entrance/moved.ts";
import { GitError } from "../git/error.ts";
import { Failure } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import { advertiseNothing } from "./advertise.ts";
import { Vacant } from "./target.ts";
import type { GitHttpEnv } from "./env.ts";

/**
 * Renders an error thrown before a response in git's protocol began, as plain text that git
 * displays.
 */
export function renderFailure(thrown: unknown, c: Context<GitHttpEnv>): Response {
  if (thrown instanceof CallerLeft) return new Response(null, { status: CALLER_LEFT_STATUS });
  const error = isOfFullStorage(thrown) ? asFailure(thrown) : thrown;
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Vacant) return advertiseNothing(c.req.header("git-protocol"));
  if (error instanceof Failure) {
    if (error.kind === "unauthenticated") {
      c.header("WWW-Authenticate", 'Basic realm="Edgeforge", charset="UTF-8"');
    }
    return c.text(`${error.message}\n`, GIT_FAILURE_STATUS[error.kind], failureHeaders(error));
  }
  if (error instanceof GitError) return c.text(`${error.message}\n`, 400);
  logBug(c.var.requestId, error);
  return c.text(`internal error, request ${c.var.requestId}\n`, 500);
}
