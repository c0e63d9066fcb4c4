import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { parseArchiveName } from "../domain/code/archives/archive-format.ts";
import { findArchive } from "../domain/code/archives/find-archive.ts";
import { answerDownload } from "../lib/download.ts";
import { log } from "../lib/log.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import { renderFailure } from "./render-failure.ts";

/** Archives of branches, tags and commits, to which API responses of tags and releases link. */
export const archives = new Hono<WebEnv>({ router: new TrieRouter() });

archives.get("/:owner/:repo/archive/:archive{.+}", async (c, next) => {
  const { owner, repo: name, archive } = c.req.param();
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, { unit: "code", mode: "read" });
  const { ref, format } = parseArchiveName(archive);
  const { requestId } = c.var;
  return answerDownload(c.req.raw, await findArchive(ctx, repo, ref, format), (sentBytes) =>
    log("archive:sent", { id: requestId, ...ctx.git.usage.counts(), sentBytes }),
  );
});

archives.onError(renderFailure);
