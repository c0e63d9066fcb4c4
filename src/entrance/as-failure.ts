import { GitError } from "../git/error.ts";
import { tooLarge } from "../lib/failure.ts";

/**
 * The error that a door renders: the engine's refusal to do more than its limits allow is a
 * failure that the caller could have avoided, wherever it was thrown. Other errors are returned as
 * they are.
 */
export function asFailure(error: unknown): unknown {
  return error instanceof GitError && error.code === "limit" ? tooLarge(error.message) : error;
}

/**
 * The status of a request whose caller closed the connection before the response; nobody receives
 * it.
 */
export const CALLER_LEFT_STATUS = 499;
