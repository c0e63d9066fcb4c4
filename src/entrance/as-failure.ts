import { GitError } from "../git/error.ts";
import { Failure, tooLarge } from "../lib/failure.ts";

/**
 * The error that a door renders: the engine's refusal to do more than its limits allow is a
 * failure that the caller could have avoided, wherever it was thrown, and so is storage without
 * space, which no caller could have foreseen. Other errors are returned as they are.
 */
export function asFailure(error: unknown): unknown {
  if (error instanceof GitError && error.code === "limit") return tooLarge(error.message);
  return isOfFullStorage(error) ? new Failure("no_space", "the service has no space left") : error;
}

/** What SQLite, D1, the bucket and the file system say. */
const NO_SPACE =
  /SQLITE_FULL|database or disk is full|no space left|exceeded maximum DB size|storage limit exceeded/i;

/** Whether a write failed because the database, the bucket or the disk below them is full. */
export function isOfFullStorage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Failure) return false;
  return NO_SPACE.test(error.message) || isOfFullStorage(error.cause);
}

/**
 * The status of a request whose caller closed the connection before the response; nobody receives
 * it.
 */
export const CALLER_LEFT_STATUS = 499;
