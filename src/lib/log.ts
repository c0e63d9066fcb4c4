/**
 * Writes one JSON line. `event` is stable, so that it can be searched for.
 *
 * SECURITY: ids, counts and names of our own only. Never a token, a body, SQL, or a message that
 * somebody else composed: a query error's text holds the statement and its values.
 */
export function log(event: string, fields: Record<string, string | number | boolean | null>): void {
  console.log(JSON.stringify({ event, ...fields }));
}

/**
 * Logs what no caller could have avoided: the class of the error, where it was thrown, and D1's own
 * short reason. The message stays out, since a query error's text holds the values of the query.
 */
export function logBug(requestId: string, error: unknown): void {
  const {
    name,
    message,
    stack = "",
    cause,
  } = error instanceof Error ? error : new Error("not an error");
  // SECURITY: the stack begins with the message, whose lines may look like frames.
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
