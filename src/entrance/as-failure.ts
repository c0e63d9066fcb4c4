import { isMoving } from "../db/moves/is-moving.ts";
import { GitError } from "../git/error.ts";
import { moving, tooLarge } from "../lib/failure.ts";

/**
 * What a door renders of an error: the engine's refusal to do more than its limits allow, and a database's to write what moves, are
 * failures wherever they were thrown. Other errors are returned as they are.
 */
export function asFailure(error: unknown): unknown {
  if (error instanceof GitError && error.code === "limit") return tooLarge(error.message);
  return asMovingFailure(error);
}

/** The failure of a write to a repository that moves to another database; other errors as they are. */
export const asMovingFailure = (error: unknown): unknown => (isMoving(error) ? moving() : error);

/** The status of a request whose caller closed the connection before the response; nobody receives it. */
export const CALLER_LEFT_STATUS = 499;
