import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";

import { requireAccess } from "../auth/access/permission.ts";
import { boundTokenId } from "../auth/actor.ts";
import { readCredential } from "../auth/credential.ts";
import type { BaseCtx } from "../context.ts";
import { selectBoundRepositories } from "../domain/people/tokens/select-bound-repositories.ts";
import { asFailure } from "../entrance/as-failure.ts";
import { authenticate } from "../entrance/authenticate.ts";
import type { Door } from "../entrance/door.ts";
import { FAILURE_STATUS, failureHeaders } from "../entrance/failure-status.ts";
import { Failure, forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import { Api, type CallService, type McpCaller } from "./call.ts";
import { openServer } from "./server.ts";

/** Maximum bytes of a message: a change set of files is the largest. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** The failures by which the door refuses requests. A tool's own refusals are its answers. */
const MCP_DOOR: Door = {
  hasSudo: false,
  refuseAnonymous: () => unauthenticated("token is required"),
  refuseScopes: (missing) => forbidden(`the token lacks ${missing.join(" ")}`),
  refuseUnknown: (_actor, reason) => notFound("not found", reason),
  requireAccess: (_actor, repo, requirement) => requireAccess(repo, requirement),
};

/** What a request brings besides itself. */
interface Incoming {
  readonly base: BaseCtx;
  readonly requestId: string;
  readonly callService: CallService;
}

/** The callers of requests that are being answered, by the key that the library passes on. */
const CALLER = "caller";

let handler: McpHttpHandler | undefined;

/**
 * Answers a request by the Streamable HTTP transport, without sessions: of the revisions that begin
 * with `initialize`, and of those whose requests stand alone.
 *
 * SECURITY: who calls is decided by the header `Authorization` alone, never by a cookie, and the
 * service's own tools call the API with it.
 */
export async function answerRequest(request: Request, incoming: Incoming): Promise<Response> {
  const { base, requestId } = incoming;
  try {
    refuseForeign(request, base);
    if (request.method !== "POST") {
      const headers = { Allow: "POST" };
      return new Response("this server has no sessions: send POST\n", { status: 405, headers });
    }
    const caller = await findCaller(request, incoming);
    handler ??= createMcpHandler(
      ({ authInfo }) => openServer(authInfo?.extra?.[CALLER] as McpCaller),
      {
        maxRequestBodySize: BODY_BYTES_MAX,
        // What changes is told by the answers to calls.
        maxSubscriptions: 0,
      },
    );
    return await handler.fetch(request, {
      authInfo: { token: "", clientId: "", scopes: [], extra: { [CALLER]: caller } },
    });
  } catch (thrown) {
    return toRefusal(asFailure(thrown), base.rootUrl, requestId);
  }
}

/**
 * Refuses requests that a page of another site sends: by a name of its own for this address, or
 * from an origin that may not call the service.
 *
 * @throws Failure `forbidden`.
 */
function refuseForeign({ headers, url }: Request, { config, rootUrl }: BaseCtx): void {
  const { host, hostname } = new URL(url);
  const own = [config.rootUrl, ...config.listenUrls].filter((each) => each !== "");
  const isOwn = own.length === 0 || own.some((each) => new URL(each).host === host);
  if (!isOwn && !LOOPBACK.has(hostname)) throw forbidden("the header Host names another service");
  const origin = headers.get("origin");
  if (origin === null || origin === new URL(rootUrl).origin) return;
  const { allowedOrigins } = config;
  if (allowedOrigins === "*" || allowedOrigins.includes(origin)) return;
  throw forbidden("pages of this origin may not call the service");
}

/** The names by which a machine calls itself; no other site can have them. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

const NO_QUERY = new URLSearchParams();

async function findCaller(request: Request, { base, callService }: Incoming): Promise<McpCaller> {
  const credential = readCredential(
    request.headers.get("authorization") ?? undefined,
    request.url.includes("?") ? new URL(request.url).searchParams : NO_QUERY,
  );
  const incoming = { door: MCP_DOOR, base, raw: request, credential };
  const { ctx, target: bound = [] } = await authenticate(
    incoming,
    { scopes: [], anonymous: "never" },
    (caller) => selectBoundRepositories(base.db, caller),
  );
  const isBound = boundTokenId(ctx.actor) !== undefined;
  const [only, another] = bound;
  return {
    ctx,
    incoming,
    isBound,
    boundTo: isBound && !another ? only?.fullName : undefined,
    client: request.headers.get("user-agent") ?? "",
    api: new Api(callService, request, base.config.clientAddressHeader),
  };
}

function toRefusal(error: unknown, rootUrl: string, requestId: string): Response {
  const isRefusal = error instanceof Failure;
  if (!isRefusal) logBug(requestId, error);
  const message = isRefusal ? error.message : `internal error, request ${requestId}`;
  const status = isRefusal ? FAILURE_STATUS[error.kind] : 500;
  const headers = {
    ...(isRefusal && failureHeaders(error)),
    ...(status === 401 && {
      "WWW-Authenticate": `Bearer resource_metadata="${rootUrl}/.well-known/oauth-protected-resource/mcp"`,
    }),
  };
  const answer = { jsonrpc: "2.0", id: null, error: { code: -32_600, message } };
  return Response.json(answer, { status, headers });
}
