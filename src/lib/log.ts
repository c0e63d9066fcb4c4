/**
 * Writes one JSON line. The name in `event` is stable, so that logs can be searched for it.
 *
 * SECURITY: log only ids, counts and the service's own names. Never log a token, a body, SQL, or a
 * message composed elsewhere: the text of a query error contains the statement and its values.
 */
export function log(event: string, fields: Record<string, string | number | boolean | null>): void {
  console.log(JSON.stringify({ event, ...fields }));
}

/**
 * Logs an error that no caller could have avoided: its class, its stack, and D1's short reason. The
 * message is left out, since the text of a query error contains the values of the query.
 */
export function logBug(requestId: string, error: unknown): void {
  const {
    name,
    message,
    stack = "",
    cause,
  } = error instanceof Error ? error : new Error("not an error");
  // SECURITY: the stack starts with the message, and lines of the message may look like frames.
  const frames = stack
    .replace(message, () => "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
  const reason = cause instanceof Error ? cause.message : "";
  log("request:bug", {
    id: requestId,
    error: name,
    reason: /D1_ERROR: [A-Za-z ]+|SQLITE_[A-Z_]+/.exec(reason)?.[0] ?? "",
    stack: frames.slice(0, 8).join("\n"),
  });
}
