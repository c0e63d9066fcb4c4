import { createContextValues } from "@connectrpc/connect";
import { createHandlerFactory } from "@connectrpc/connect/protocol-connect";
import {
  type UniversalHandler,
  universalServerRequestFromFetch,
  universalServerResponseToFetch,
} from "@connectrpc/connect/protocol";

import { ANONYMOUS } from "../auth/actor.ts";
import type { ActionsRunnerEnv } from "./env.ts";
import { gzip } from "./gzip.ts";
import { CALLER } from "./caller.ts";
import { methods } from "./methods.ts";

/** The path below which the services are. */
const BASE_PATH = "/api/actions";

/**
 * Maximum bytes of a call, unpacked. Old runners send all rows of a log since their last call at
 * once.
 */
const CALL_BYTES_MAX = 32 * 1024 * 1024;
/** Answers below are not compressed. */
const COMPRESSED_BYTES_MIN = 1024;

const NO_MESSAGE = { code: "invalid_argument", message: "the call is no message of the method" };

const createHandler = createHandlerFactory({
  acceptCompression: [gzip],
  compressMinBytes: COMPRESSED_BYTES_MIN,
  readMaxBytes: CALL_BYTES_MAX,
});

const handlers: ReadonlyMap<string, UniversalHandler> = new Map(
  methods.map((method) => {
    const handler = createHandler(method);
    return [BASE_PATH + handler.requestPath, handler];
  }),
);

/** Answers a call of a runner. */
export async function answerCall(
  request: Request,
  { base, requestId }: ActionsRunnerEnv["Variables"],
): Promise<Response> {
  const handler = handlers.get(new URL(request.url).pathname);
  if (!handler) return new Response("404 page not found\n", { status: 404 });
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const contextValues = createContextValues();
  const caller = { ctx: { ...base, actor: ANONYMOUS }, requestId, isRead: false };
  contextValues.set(CALLER, caller);
  const answer = await handler({
    ...universalServerRequestFromFetch(request, {}),
    contextValues,
  });
  // The library answers 500 to bytes that are no message.
  if (!caller.isRead && answer.status === 500) return Response.json(NO_MESSAGE, { status: 400 });
  const { body, status, headers } = universalServerResponseToFetch(answer);
  // "manual": a body with `Content-Encoding` is compressed already.
  return new Response(body, { status, headers, encodeBody: "manual" });
}
