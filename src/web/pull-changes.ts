import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { findChangesText } from "../domain/pulls/pull/pull-changes.ts";
import { isTrue } from "../lib/is-true.ts";
import { log } from "../lib/log.ts";
import { answerText } from "../lib/streamed-text.ts";
import { enterPullPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import { renderFailure } from "./render-failure.ts";

/** Pull requests as diffs and patches, to which their API responses link. */
export const pullChanges = new Hono<WebEnv>({ router: new TrieRouter() });

pullChanges.get("/:owner/:repo/pulls/:file{[0-9]{1,15}\\.(?:diff|patch)}", async (c, next) => {
  const { owner, repo: name, file } = c.req.param();
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const [number = "", format] = file.split(".");
  const { ctx, pull } = await enterPullPath(c, owner, name, Number(number));
  const binaryFiles = isTrue(c.req.query("binary") ?? "") ? "encoded" : "reported";
  const changes = format === "patch" ? "patch" : "diff";
  const text = await findChangesText(ctx, pull, changes, binaryFiles);
  const { requestId } = c.var;
  return answerText(c.req.raw, text, (sentBytes) =>
    log("diff:sent", { id: requestId, ...ctx.git.usage.counts(), sentBytes }),
  );
});

pullChanges.onError(renderFailure);
