import { Hono, type Context } from "hono";
import { routePath } from "hono/route";
import { TrieRouter } from "hono/router/trie-router";
import { getCookie } from "hono/cookie";
import { getPath } from "hono/utils/url";

import { actionsRunner } from "./actions-runner/index.ts";
import { ANONYMOUS } from "./auth/actor.ts";
import { type LimitedAction, RateLimits } from "./auth/rate-limits.ts";
import { SignInFailures } from "./auth/sign-in-failures.ts";
import { renderFailure } from "./api/failure-renderer.ts";
import { api } from "./api/index.ts";
import type { Config } from "./config.ts";
import type { BaseCtx } from "./context.ts";
import { openDatabase } from "./db/db.ts";
import { meterD1, type D1Usage } from "./db/meter.ts";
import { countPackageDownload } from "./domain/packages/package/count-download.ts";
import { createFirstAdministrator } from "./domain/people/accounts/create-first-administrator.ts";
import { sendDueMails } from "./domain/operations/mail-delivery/send-due-mails.ts";
import { readClientAddress, readClientNetwork } from "./entrance/client-network.ts";
import { gitHttp } from "./git-http/index.ts";
import { USER_AGENT } from "./domain/version.ts";
import { KeptAnswers } from "./entrance/kept-answers.ts";
import { crossOrigin } from "./entrance/cross-origin.ts";
import { EventQueues } from "./storage/event-queues.ts";
import { RemoteJobs } from "./storage/remote-jobs.ts";
import { Failure } from "./lib/failure.ts";
import { log, logBug } from "./lib/log.ts";
import { urlOrigin } from "./lib/url-origin.ts";
import { collapseSlashes } from "./lib/request-path.ts";
import { isolateWrites, type Writes } from "./lib/writes.ts";
import { type MailBindings, Mailer } from "./outgoing/mailer.ts";
import { mcpServer } from "./mcp/index.ts";
import { openOutgoing } from "./outgoing/open-outgoing.ts";
import { registries } from "./registries/index.ts";
import { edgeCache } from "./storage/edge-cache.ts";
import { Kept } from "./storage/kept.ts";
import { GitStorage } from "./storage/storage.ts";
import { BOOKMARK_COOKIE } from "./web/cookies.ts";
import { web } from "./web/index.ts";
import { browse } from "./web/pages/browse.ts";

/** Where the rate limits are missing, each isolate counts for itself. */
type Limits = "SIGN_IN_ACCOUNT_FAILURES" | "SIGN_IN_ADDRESS_FAILURES" | LimitedAction;
type Bindings = Omit<Env, Limits> &
  Partial<Pick<Env, Limits>> &
  MailBindings & { EVENTS_OUT?: Queue<object>; DISK_SPACE?: Fetcher };

interface AppEnv {
  Bindings: Bindings;
  Variables: {
    requestId: string;
    rootUrl: string;
    base: BaseCtx;
    findBookmark: () => string | undefined;
    findWriteBookmark: () => string | undefined;
    assets: Fetcher;
    diskSpace: Fetcher | undefined;
  };
}

/**
 * Paths that scripts of other origins may call: they take tokens, or are the same for everybody.
 */
const CROSS_ORIGIN_PATHS = [
  "/api/v1/*",
  "/login/oauth/access_token",
  "/login/oauth/introspect",
  "/login/oauth/keys",
  "/login/oauth/register",
  "/login/oauth/revoke",
  "/login/oauth/userinfo",
  "/.well-known/*",
  "/mcp",
  "/openapi.json",
  "/swagger.v1.json",
];

/** Pages that a browser opens for a program, which has written something a moment before. */
const PRIMARY_PATHS: ReadonlySet<string> = new Set(["/login/oauth/authorize"]);

/** Bytes of what guards have found. */
const GUARDS_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The whole service as one function from request to response.
 *
 * @param writes The writes that end what is kept between requests.
 */
export function createApp(
  config: Config,
  writes: Writes = isolateWrites,
): Pick<Hono<AppEnv>, "fetch"> {
  const answers = new KeptAnswers(writes);
  const guards = new Kept<object>(GUARDS_BYTES_MAX, writes);
  const app = new Hono<AppEnv>({
    router: new TrieRouter(),
    getPath: (request) => collapseSlashes(getPath(request)),
  });
  let hasAdministrator = false;

  app.use("*", async (c, next) => {
    // The platform takes any text for the host.
    if (!URL.canParse(c.req.url)) return c.text("the header Host names no host\n", 400);
    const request = openRequest(c, config, guards);
    const keep = answers.begin(c.req.raw, request.base.now);
    if (config.firstAdministrator && !hasAdministrator) {
      await ensureAdministrator(request.base, config.firstAdministrator);
      hasAdministrator = true;
    }
    await next();
    closeRequest(c, request);
    if (keep && isWhole(request)) {
      const { usage, downloadOf } = request;
      const made = { route: routeOf(c), reads: usage.reads, downloadOf };
      const kept = await keep(c.res, request.id, made);
      // Cleared first: Hono merges the headers of the previous response into the one assigned.
      c.res = undefined;
      c.res = kept;
    }
    return undefined;
  });
  for (const path of CROSS_ORIGIN_PATHS) app.use(path, crossOrigin(config.allowedOrigins));
  // Registries first: an image may be named like a route of repositories, as in
  // /v2/{owner}/raw/manifests/1. Then the web, since the API's router answers every path below
  // /api/v1, also those of web routes.
  app.route("/", registries);
  app.route("/", actionsRunner);
  app.route(
    "/",
    mcpServer<Bindings>((c) => (request) => app.fetch(request, c.env, c.executionCtx)),
  );
  app.route("/", web);
  app.route("/api/v1", api);
  app.route("/", gitHttp);
  app.route("/", browse);

  app.onError((error, c) => {
    if (isOfApi(c.req.path)) return renderFailure(error, c);
    logBug(c.var.requestId, error);
    return c.text(`internal error, request ${c.var.requestId}\n`, 500);
  });
  return {
    fetch: (request, env, execution) => {
      const kept = answers.find(request);
      if (!kept) return app.fetch(request, env, execution);
      const { response, downloadOf } = kept;
      if (downloadOf !== undefined && env && execution) {
        const counting = {
          config,
          // Only few requests write what all have counted.
          get db() {
            return openDatabase((env as Bindings).DB.withSession("first-primary"));
          },
          defer: (work: Promise<unknown>) => execution.waitUntil(work),
        };
        countPackageDownload(counting, downloadOf);
      }
      return response;
    },
  };
}

/** The pattern of the route, not the path: paths contain names and sometimes secrets. */
const routeOf = (c: Context<AppEnv>): string => routePath(c, c.req.routeIndex);

/** Whether the next request like this one has the same answer. */
const isWhole = ({ base: { git, rateLimits } }: OpenRequest): boolean =>
  git.usage.incomplete.size === 0 && !rateLimits.hasCounted;

/** Whether a path is the API's: the web's routes below it render their own failures. */
const isOfApi = (path: string): boolean => path === "/api/v1" || path.startsWith("/api/v1/");

/** Creates the first administrator from the configuration. Runs at most once per isolate. */
async function ensureAdministrator(
  base: BaseCtx,
  account: NonNullable<Config["firstAdministrator"]>,
): Promise<void> {
  try {
    const { created } = await createFirstAdministrator({ ...base, actor: ANONYMOUS }, account);
    if (created) log("setup:administrator-created", { name: account.name });
  } catch (error) {
    // Two concurrent requests both try, or the configured account is invalid: requests are served
    // anyway.
    if (!(error instanceof Failure)) throw error;
    log("setup:administrator-refused", { name: account.name, kind: error.kind });
  }
}

/**
 * The state of a request until its response is complete. Hono's `c.var` copies all variables each
 * time, so that the frame reads its own from here.
 */
interface OpenRequest {
  id: string;
  base: BaseCtx;
  usage: D1Usage;
  /** The version of a package of which the answer is a download. */
  downloadOf: number | undefined;
}

/**
 * Sets the request id and the variables that guards need. No other function of the app reads
 * bindings.
 */
function openRequest(c: Context<AppEnv>, config: Config, guards: Kept<object>): OpenRequest {
  // A read may use a nearby replica, which lags behind the primary; the bookmark of an earlier
  // write makes the read see that write. A write starts at the primary.
  const isRead =
    (c.req.method === "GET" || c.req.method === "HEAD") && !PRIMARY_PATHS.has(c.req.path);
  const bookmark = c.req.header("x-d1-bookmark") ?? getCookie(c, BOOKMARK_COOKIE);
  const session = c.env.DB.withSession(
    bookmark ?? (isRead ? "first-unconstrained" : "first-primary"),
  );
  const { d1, usage } = meterD1(session, { rows: config.logsD1Rows });
  const origin = urlOrigin(c.req.url);
  const rootUrl = config.rootUrl || origin;
  const id = crypto.randomUUID();
  c.set("requestId", id);
  c.set("rootUrl", rootUrl);
  c.set("assets", c.env.ASSETS);
  c.set("diskSpace", c.env.DISK_SPACE);
  const findBookmark = (): string | undefined => session.getBookmark() ?? undefined;
  c.set("findBookmark", findBookmark);
  c.set("findWriteBookmark", () => (usage.hasWritten ? findBookmark() : undefined));
  const isFetch = c.req.method === "POST" && c.req.path.endsWith("/git-upload-pack");
  const base: BaseCtx = {
    config,
    // With a bookmark, the caller wants to see what they have written, maybe by another isolate.
    guards: (isRead || isFetch) && bookmark === undefined ? guards : undefined,
    db: openDatabase(d1),
    git: new GitStorage(c.env.PACKS, c.env.REPOSITORY, c.env.STORAGE_JOBS, edgeCache, {
      signal: c.req.raw.signal,
      defer: (work) => c.executionCtx.waitUntil(work),
    }),
    eventQueues: new EventQueues(c.env.EVENT_JOBS, c.env.DELIVERY_JOBS, c.env.EVENTS_OUT),
    remoteJobs: new RemoteJobs(c.env.REMOTE_JOBS),
    mailer: new Mailer(c.env),
    outgoing: openOutgoing(config, origin, USER_AGENT),
    signInFailures: new SignInFailures(
      c.env.SIGN_IN_ACCOUNT_FAILURES,
      c.env.SIGN_IN_ADDRESS_FAILURES,
    ),
    rateLimits: new RateLimits(c.env),
    network: readClientNetwork(c.req.raw.headers, config.clientAddressHeader),
    rootUrl,
    // Cloudflare routes only the operator's own host names to a Worker; `npm start` always has a
    // public URL.
    publicUrl: config.publicUrl || rootUrl,
    client: {
      address: readClientAddress(c.req.raw.headers, config.clientAddressHeader),
      requestId: id,
    },
    now: Date.now(),
    defer: (work) => c.executionCtx.waitUntil(work),
  };
  c.set("base", base);
  const request: OpenRequest = { id, base, usage, downloadOf: undefined };
  base.noteDownload = (versionId) => {
    request.downloadOf = versionId;
  };
  return request;
}

function closeRequest(c: Context<AppEnv>, { id, base, usage }: OpenRequest): void {
  // Headers are set once the response exists: a fetched response, such as a static file, drops
  // headers that were set earlier.
  if (base.eventQueues.hasRecorded) base.defer(base.eventQueues.dispatchRecorded());
  if (base.mailer.takeQueued()) base.defer(sendDueMails({ ...base, actor: ANONYMOUS }));
  const { headers } = c.res;
  headers.set("X-Request-Id", id);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "SAMEORIGIN");
  const { incomplete } = base.git.usage;
  if (incomplete.size > 0) {
    const warning = `too much work, incomplete: ${[...incomplete].join(", ")}`;
    const other = headers.get("X-Gitea-Warning");
    headers.set("X-Gitea-Warning", other === null ? warning : `${warning}; ${other}`);
  }
  if (!headers.has("Cache-Control")) {
    headers.set("Cache-Control", "max-age=0, private, must-revalidate, no-transform");
  }
  if (c.req.method !== "GET" && c.req.method !== "HEAD") {
    // SECURITY: a bookmark counts calls of the database, and so shows how much a refused request
    // has looked up.
    const bookmark = c.var.findWriteBookmark();
    if (bookmark !== undefined) headers.set("x-d1-bookmark", bookmark);
  }
  log("request", {
    id,
    method: c.req.method,
    route: routeOf(c),
    status: c.res.status,
    durationMs: Date.now() - base.now,
    d1Calls: usage.calls,
    d1Rounds: usage.rounds,
    d1RowsRead: usage.rowsRead,
    d1RowsWritten: usage.rowsWritten,
    sqlBuilds: base.db.sqlBuildCount,
    ...base.git.usage.counts(),
  });
}
