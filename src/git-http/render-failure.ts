import type { Context } from "hono";

import { GitError } from "../git/error.ts";
import { Failure, type FailureKind } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import { advertiseNothing } from "./advertise.ts";
import { Moved, Vacant } from "./enter.ts";
import type { GitHttpEnv } from "./env.ts";

export const STATUS = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  locked: 403,
  too_many: 429,
} as const satisfies Record<FailureKind, number>;

/** Answers what was thrown before an answer in git's own words began: plain text, which git shows. */
export function renderFailure(error: unknown, c: Context<GitHttpEnv>): Response {
  if (error instanceof Moved) return redirect(error, c);
  if (error instanceof Vacant) return advertiseNothing(c.req.header("git-protocol"));
  if (error instanceof Failure) {
    if (error.kind === "unauthenticated") {
      c.header("WWW-Authenticate", 'Basic realm="Edgeforge", charset="UTF-8"');
    }
    return c.text(`${error.message}\n`, STATUS[error.kind]);
  }
  if (error instanceof GitError) return c.text(`${error.message}\n`, 400);
  logBug(c.var.requestId, error);
  return c.text(`internal error, request ${c.var.requestId}\n`, 500);
}

export function redirect({ location }: Moved, c: Context<GitHttpEnv>): Response {
  const isRead = c.req.method === "GET" || c.req.method === "HEAD";
  return c.redirect(location, isRead ? 301 : 308);
}
