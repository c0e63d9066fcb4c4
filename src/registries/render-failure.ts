import type { Context } from "hono";

import { asFailure, CALLER_LEFT_STATUS } from "../entrance/as-failure.ts";
import { FAILURE_STATUS, failureHeaders } from "../entrance/failure-status.ts";
import { Moved } from "../entrance/moved.ts";
import { Failure } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import type { RegistryEnv } from "./env.ts";

/** The challenge that Gitea's registries send. */
const CHALLENGE = 'Basic realm="Gitea Package API"';

/** How a format renders a refusal. */
interface FailureDialect {
  /** The body in the format's own form, and its type. */
  readonly body: (
    message: string,
    failure: Failure | undefined,
    status: number,
  ) => [body: string, type: string];
  /** The challenge of a 401, where it is not Basic. */
  readonly challenge?: (c: Context<RegistryEnv>) => string;
}

/** Plain text, for formats whose clients show whatever comes. */
export const PLAIN_TEXT: FailureDialect = {
  body: (message) => [`${message}\n`, "text/plain; charset=UTF-8"],
};

/** A form of JSON. */
export const jsonDialect = (
  form: (message: string, failure: Failure | undefined, status: number) => object,
): FailureDialect => ({
  body: (...failure) => [JSON.stringify(form(...failure)), "application/json"],
});

/** Makes the error handler of a registry. */
export const failureRenderer =
  ({ body, challenge }: FailureDialect) =>
  (thrown: unknown, c: Context<RegistryEnv>): Response => {
    if (thrown instanceof CallerLeft) return new Response(null, { status: CALLER_LEFT_STATUS });
    const error = asFailure(thrown);
    if (error instanceof Moved) return c.redirect(error.location, error.status);
    const failure = error instanceof Failure ? error : undefined;
    if (!failure) logBug(c.var.requestId, error);
    const status = failure ? FAILURE_STATUS[failure.kind] : 500;
    const message = failure?.message ?? `internal error, request ${c.var.requestId}`;
    const [text, type] = body(message, failure, status);
    const headers = new Headers(failure && failureHeaders(failure));
    headers.set("Content-Type", type);
    if (status === 401) headers.set("WWW-Authenticate", challenge?.(c) ?? CHALLENGE);
    return new Response(text, { status, headers });
  };
