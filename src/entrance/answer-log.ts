import type { Ctx } from "../context.ts";
import type { WorkflowTask } from "../db/schema/index.ts";
import { streamLog } from "../domain/actions/tasks/read-log.ts";
import { parseRange } from "../lib/byte-range.ts";
import { formatFilename } from "../lib/header-value.ts";

/**
 * Responds with the log of a task or a range of it, as far as it is stored, as a text file.
 *
 * @param name The name of the file, without its ending.
 */
export function answerLog(
  ctx: Ctx,
  task: Pick<WorkflowTask, "id" | "logRows" | "logBytes">,
  name: string,
  request: Request,
): Response {
  const { logBytes } = task;
  const range = parseRange(request.headers.get("range") ?? undefined, logBytes);
  const headers = {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Disposition": `attachment; ${formatFilename(`${name}.log`)}`,
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
  };
  if (range === "none") {
    const unsatisfied = { ...headers, "Content-Range": `bytes */${logBytes}` };
    return new Response(null, { status: 416, headers: unsatisfied });
  }
  const { start, end } = range === "whole" ? { start: 0, end: logBytes } : range;
  const body =
    request.method === "HEAD" || end === start
      ? null
      : streamLog(ctx, task, { start, end }).pipeThrough(new FixedLengthStream(end - start));
  return new Response(body, {
    status: range === "whole" ? 200 : 206,
    headers: {
      ...headers,
      "Content-Length": String(end - start),
      ...(range !== "whole" && { "Content-Range": `bytes ${start}-${end - 1}/${logBytes}` }),
    },
  });
}
