import {
  createMcpHandler,
  isJsonContentType,
  type McpHttpHandler,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { z } from "@hono/zod-openapi";

import { requireAccess } from "../auth/access/permission.ts";
import { boundTokenId } from "../auth/actor.ts";
import { readCredential } from "../auth/credential.ts";
import { hasScope, type Scope } from "../auth/scope.ts";
import type { BaseCtx } from "../context.ts";
import { selectBoundRepositories } from "../domain/people/tokens/select-bound-repositories.ts";
import { asFailure } from "../entrance/as-failure.ts";
import { authenticate } from "../entrance/authenticate.ts";
import { bearerChallenge } from "../entrance/bearer-challenge.ts";
import type { Door } from "../entrance/door.ts";
import { FAILURE_STATUS, failureHeaders } from "../entrance/failure-status.ts";
import { admitAudience } from "../entrance/request-audience.ts";
import {
  Failure,
  forbidden,
  malformed,
  notFound,
  tooLarge,
  unauthenticated,
} from "../lib/failure.ts";
import { parseJson } from "../lib/json.ts";
import { logBug } from "../lib/log.ts";
import { isLoopbackName } from "../lib/loopback.ts";
import { Api, type CallService, type McpCaller } from "./call.ts";
import { openServer } from "./server.ts";
import { TOOLS } from "./tools/index.ts";

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
  const { base } = incoming;
  try {
    refuseForeign(request, base);
    if (request.method !== "POST") {
      const headers = { Allow: "POST" };
      return new Response("this server has no sessions: send POST\n", { status: 405, headers });
    }
    const caller = await findCaller(admitAudience(request, "mcp"), incoming);
    if (!isJsonContentType(request.headers.get("content-type"))) {
      return new Response("a message is application/json\n", { status: 415 });
    }
    const message = await readMessage(request);
    const missing = missingScopes(caller, message);
    if (missing.length > 0) return toChallenge(base, missing);
    handler ??= createMcpHandler(
      ({ authInfo }) => openServer(authInfo?.extra?.[CALLER] as McpCaller),
      // The answers to calls say what changes.
      { maxSubscriptions: 0 },
    );
    return await handler.fetch(request, {
      authInfo: { token: "", clientId: "", scopes: [], extra: { [CALLER]: caller } },
      parsedBody: message,
    });
  } catch (thrown) {
    return toRefusal(asFailure(thrown), request, incoming);
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
  if (!isOwn && !isLoopbackName(hostname)) throw forbidden("the header Host names another service");
  const origin = headers.get("origin");
  if (origin === null || origin === new URL(rootUrl).origin) return;
  const { allowedOrigins } = config;
  if (allowedOrigins === "*" || allowedOrigins.includes(origin)) return;
  throw forbidden("pages of this origin may not call the service");
}

const NO_QUERY = new URLSearchParams();

async function findCaller(
  request: Request,
  { base, requestId, callService }: Incoming,
): Promise<McpCaller> {
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
    requestId,
    api: new Api(callService, request, base.config.clientAddressHeader),
  };
}

/**
 * Reads the message of a request. Several in one, which only the first revisions had, are refused:
 * each may take as much work as a request.
 *
 * @throws Failure `too_large`, `malformed`.
 */
async function readMessage(request: Request): Promise<unknown> {
  const read = await readRequestBody(request, BODY_BYTES_MAX);
  if (read.tooLarge) throw tooLarge(`a message has at most ${BODY_BYTES_MAX} bytes`);
  const message = await parseJson(read.text).catch((error: unknown) => {
    if (error instanceof SyntaxError) throw malformed("the message is no JSON");
    throw error;
  });
  if (Array.isArray(message)) throw malformed("a request has one message");
  return message;
}

const ToolCall = z.object({
  method: z.literal("tools/call"),
  params: z.object({ name: z.string() }),
});

/**
 * The scopes that a token lacks for a call, where its client can ask for more: a token that an
 * application was granted. Others learn that there is no such tool.
 */
function missingScopes({ ctx: { actor } }: McpCaller, message: unknown): readonly Scope[] {
  const { data } = ToolCall.safeParse(message);
  const tool = data && TOOLS.find(({ name }) => name === data.params.name);
  if (!tool || actor.token?.grantId == null) return [];
  return tool.scopes.filter((scope) => !hasScope(actor.scopes, scope));
}

function toChallenge(base: BaseCtx, scopes: readonly Scope[]): Response {
  const description = `the tool needs ${scopes.join(" ")}`;
  const challenge = bearerChallenge(base, { error: "insufficient_scope", description, scopes });
  return toErrorAnswer(403, description, { "WWW-Authenticate": challenge });
}

function toRefusal(error: unknown, request: Request, { base, requestId }: Incoming): Response {
  if (!(error instanceof Failure)) {
    logBug(requestId, error);
    return toErrorAnswer(500, `internal error, request ${requestId}`, {});
  }
  const isUnauthenticated = error.kind === "unauthenticated";
  const hasCredential = request.headers.has("authorization");
  const challenge = hasCredential
    ? ({ error: "invalid_token", description: error.message } as const)
    : {};
  return toErrorAnswer(FAILURE_STATUS[error.kind], error.message, {
    ...failureHeaders(error),
    ...(isUnauthenticated && { "WWW-Authenticate": bearerChallenge(base, challenge) }),
  });
}

const toErrorAnswer = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: REFUSED, message } },
    { status, headers },
  );

/** The protocol's number for a request that is not answered. */
const REFUSED = -32_600;
