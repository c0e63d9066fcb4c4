import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { BaseCtx } from "../context.ts";
import type { CallService } from "./call.ts";

/** Variables set on every request before its route runs. */
export interface McpEnv<Bindings extends object> {
  Bindings: Bindings;
  Variables: {
    base: BaseCtx;
    requestId: string;
  };
}

/**
 * The server of the Model Context Protocol: tools for agents over the operations of the API. Its
 * code is loaded with the first request.
 *
 * @param open Answers a request of a tool to the API, in the environment of the caller's.
 */
export function mcpServer<Bindings extends object>(
  open: (c: Context<McpEnv<Bindings>>) => CallService,
): Hono<McpEnv<Bindings>> {
  const server = new Hono<McpEnv<Bindings>>({ router: new TrieRouter() });
  server.all("/mcp", async (c) => {
    const { answerRequest } = await import("./answer-request.ts");
    return answerRequest(c.req.raw, { ...c.var, callService: open(c) });
  });
  return server;
}
