import { Hono, type Context } from "hono";
import { routePath } from "hono/route";
import { TrieRouter } from "hono/router/trie-router";

import { api } from "./api/index.ts";
import type { Config } from "./config.ts";
import type { OpenCtx } from "./context.ts";
import { openDatabase } from "./db/db.ts";
import { meterD1, type D1Usage } from "./db/meter.ts";
import { log, logBug } from "./lib/log.ts";
import { web } from "./web/index.ts";

interface AppEnv {
  Bindings: Env;
  Variables: { requestId: string; rootUrl: string; open: OpenCtx; assets: Fetcher };
}

/** The whole service as one function from request to response. */
export function createApp(config: Config): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ router: new TrieRouter() });

  app.use("*", async (c, next) => {
    const request = openRequest(c, config);
    await next();
    closeRequest(c, request);
  });
  app.route("/api/v1", api);
  app.route("/", web);

  app.onError((error, c) => {
    logBug(c.var.requestId, error);
    return c.text(`internal error, request ${c.var.requestId}\n`, 500);
  });
  app.notFound((c) => c.text("404 page not found\n", 404));
  return app;
}

/** What is kept of a request until it is answered. */
interface OpenRequest {
  startedAt: number;
  session: D1DatabaseSession;
  usage: D1Usage;
}

/** What D1 gives as a bookmark: hex digits in groups. Anything else it would refuse as a bug of ours. */
const BOOKMARK = /^[0-9a-f]+(-[0-9a-f]+){1,7}$/;

/** Gives a request its id and what its guard needs; the one place that reaches for bindings. */
function openRequest(c: Context<AppEnv>, config: Config): OpenRequest {
  // A read may be answered near the caller, from a replica that lags; the bookmark of an earlier
  // write makes it see that write. A write starts from the primary.
  const isRead = c.req.method === "GET" || c.req.method === "HEAD";
  const sent = c.req.header("x-d1-bookmark") ?? "";
  const start = isRead ? "first-unconstrained" : "first-primary";
  const bookmark = BOOKMARK.test(sent) ? sent : start;
  const session = c.env.DB.withSession(bookmark);
  const { d1, usage } = meterD1(session, { rows: config.logsD1Rows });
  const rootUrl = config.rootUrl || new URL(c.req.url).origin;
  c.set("requestId", crypto.randomUUID());
  c.set("rootUrl", rootUrl);
  c.set("assets", c.env.ASSETS);
  c.set("open", {
    config,
    db: openDatabase(d1),
    rootUrl,
    now: Date.now(),
    defer: (work) => c.executionCtx.waitUntil(work),
  });
  return { startedAt: c.var.open.now, session, usage };
}

function closeRequest(c: Context<AppEnv>, { startedAt, session, usage }: OpenRequest): void {
  // On the answer as it is in the end: what was set before would be lost with a response that a
  // route brings from elsewhere.
  const { headers } = c.res;
  headers.set("X-Request-Id", c.var.requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "SAMEORIGIN");
  if (!headers.has("Cache-Control")) {
    headers.set("Cache-Control", "max-age=0, private, must-revalidate, no-transform");
  }
  if (c.req.method !== "GET" && c.req.method !== "HEAD") {
    const bookmark = session.getBookmark();
    if (bookmark) headers.set("x-d1-bookmark", bookmark);
  }
  log("request", {
    id: c.var.requestId,
    method: c.req.method,
    // The pattern, not the path: paths hold names, and sometimes what should not be kept.
    route: routePath(c, c.req.routeIndex),
    status: c.res.status,
    durationMs: Date.now() - startedAt,
    d1Calls: usage.calls,
    d1Rounds: usage.rounds,
    d1RowsRead: usage.rowsRead,
    d1RowsWritten: usage.rowsWritten,
    r2Calls: 0,
    objectCalls: 0,
  });
}
