import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { ActionsRunnerEnv } from "./env.ts";

type Answer = (request: Request, call: ActionsRunnerEnv["Variables"]) => Promise<Response>;

/**
 * The services that runners of jobs call, by the Connect protocol, and those for artifacts that
 * jobs call. The code is loaded with the first call, so that no other request waits for it.
 */
export const actionsRunner = new Hono<ActionsRunnerEnv>({ router: new TrieRouter() });

let loaded: Promise<Answer> | undefined;

actionsRunner.all("/api/actions/:service/:method", async (c) => {
  loaded ??= import("./answer-call.ts").then(({ answerCall }) => answerCall);
  return (await loaded)(c.req.raw, c.var);
});

for (const path of [
  "/twirp/github.actions.results.api.v1.ArtifactService/:method",
  "/api/actions_pipeline/*",
  "/api/v1/repos/:owner/:repo/actions/artifacts/:artifact/zip/raw",
]) {
  actionsRunner.all(path, async (c) => {
    const { artifacts } = await import("./artifacts/index.ts");
    return artifacts.fetch(c.req.raw, { base: c.var.base, requestId: c.var.requestId });
  });
}
