import type { Context } from "hono";

import { asFailure, CALLER_LEFT_STATUS, isOfFullStorage } from "../../entrance/as-failure.ts";
import { failureHeaders, GIT_FAILURE_STATUS } from "../../entrance/failure-status.ts";
import { Moved } from "../../entrance/moved.ts";
import { Failure } from "../../lib/failure.ts";
import { logBug } from "../../lib/log.ts";
import { CallerLeft } from "../../lib/step-budget.ts";
import type { GitHttpEnv } from "../env.ts";

export const MEDIA_TYPE = "application/vnd.git-lfs+json";

/** A JSON response that must not be cached, since it may contain a credential. */
export function answerJson(
  body: object,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, "Content-Type": MEDIA_TYPE, "Cache-Control": "no-store" },
  });
}

/** An error response in the format of Git LFS. */
export function refuse(
  c: Context<GitHttpEnv>,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return answerJson({ message, request_id: c.var.requestId }, status, headers);
}

/** Renders a thrown error. */
export function renderLfsFailure(thrown: unknown, c: Context<GitHttpEnv>): Response {
  if (thrown instanceof CallerLeft) return new Response(null, { status: CALLER_LEFT_STATUS });
  const error = isOfFullStorage(thrown) ? asFailure(thrown) : thrown;
  if (error instanceof Moved) return c.redirect(error.location, error.status);
  if (error instanceof Failure) {
    const headers = failureHeaders(error);
    if (error.kind === "unauthenticated") {
      headers["WWW-Authenticate"] = 'Basic realm="gitea-lfs"';
    }
    return refuse(c, GIT_FAILURE_STATUS[error.kind], error.message, headers);
  }
  logBug(c.var.requestId, error);
  return refuse(c, 500, "internal error");
}
