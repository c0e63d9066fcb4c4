import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { ActionsRunnerEnv } from "./env.ts";

type Answer = typeof import("./answer-call.ts").answerCall;

/**
 * The services that runners of jobs call, by the Connect protocol. The code is loaded with the
 * first call, so that no other request waits for it.
 */
export const actionsRunner = new Hono<ActionsRunnerEnv>({ router: new TrieRouter() });

let loaded: Promise<Answer> | undefined;

actionsRunner.all("/api/actions/:service/:method", async (c) => {
  loaded ??= import("./answer-call.ts").then(({ answerCall }) => answerCall);
  return (await loaded)(c.req.raw, c.var);
});
