import type { Context } from "hono";

import { Failure, type FailureKind } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import type { WebEnv } from "./env.ts";

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

/** Not a refusal: what was asked for has another address now. */
export class Moved extends Failure {
  readonly location: string;

  constructor(location: string) {
    super("not_found", "moved");
    this.location = location;
  }
}

/** Answers what was thrown, as plain text. */
export function renderFailure(error: unknown, c: Context<WebEnv>): Response {
  if (error instanceof Moved) return c.redirect(error.location, 301);
  if (error instanceof Failure) {
    if (error.kind === "not_found") return c.text("404 page not found\n", 404);
    if (error.kind === "unauthenticated") {
      c.header("WWW-Authenticate", 'Basic realm="Edgeforge", charset="UTF-8"');
    }
    return c.text(`${error.message}\n`, STATUS[error.kind]);
  }
  logBug(c.var.requestId, error);
  return c.text(`internal error, request ${c.var.requestId}\n`, 500);
}
