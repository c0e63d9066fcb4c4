import { routePath } from "hono/route";

import { Failure } from "../../lib/failure.ts";
import type { GuardContext } from "./guard.ts";

/** Not a refusal: the thing is elsewhere now, and the caller is sent there. */
export class Moved extends Failure {
  readonly location: string;
  readonly status: 301 | 307 | 308;

  /**
   * @param names  What the parameters of the path are called now.
   * @param status As clients of the field expect it; a write goes by 308 instead of 301, which many
   * clients would repeat as a GET that changes nothing.
   */
  constructor(c: GuardContext, names: Record<string, string>, status: 301 | 307) {
    super("not_found", "moved");
    const { pathname, search } = new URL(c.req.url);
    const isRead = c.req.method === "GET" || c.req.method === "HEAD";
    // By place, not by text: a user may be called `v1` or `users`, and a name may be sent escaped.
    const pattern = routePath(c).split("/");
    const segments = pathname
      .split("/")
      .map((segment, at) => names[pattern[at]?.replace(/^:/, "") ?? ""] ?? segment);
    this.location = c.var.ctx.rootUrl + segments.join("/") + search;
    this.status = status === 301 && !isRead ? 308 : status;
  }
}
