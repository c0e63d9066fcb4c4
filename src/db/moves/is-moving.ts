/** What a database says of a write to a repository that moves, or has moved. */
export const MOVING = "the repository is moving";

/** Whether a database refused a write because its repository moves. */
export function isMoving(error: unknown): boolean {
  // Drizzle wraps D1's error, and D1 provides no error code, only this text.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && cause.message.includes(MOVING);
}
