import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { findFileBelow, findLeadingKind } from "../domain/code/contents/find-file.ts";
import { openBlob, openMedia } from "../domain/code/contents/open-content.ts";
import { readSnapshot } from "../domain/code/git/open-snapshot.ts";
import { findWikiFile } from "../domain/code/wiki/find-wiki-file.ts";
import { toWiki } from "../domain/code/wiki/to-wiki.ts";
import { answerRepositoryFile } from "../entrance/answer-file.ts";
import { notFound } from "../lib/failure.ts";
import { requestPath } from "../lib/request-path.ts";
import { encodePath, htmlUrlOf } from "../shapes/urls.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import { renderFailure } from "./render-failure.ts";

/**
 * Files of branches, tags and commits, to which API responses and rendered texts link: `raw` as
 * they are stored, `media` with pointers of Git LFS resolved.
 */
export const rawFiles = new Hono<WebEnv>({ router: new TrieRouter() });

const OPENERS = { raw: openBlob, media: openMedia };

rawFiles.get("/:owner/:repo/:noun{raw|media}/:path{.+}", async (c, next) => {
  const { owner, repo: name, noun, path } = c.req.param();
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, { unit: "code", mode: "read" });
  const [kind, ...rest] = path.split("/");
  if (kind !== "branch" && kind !== "tag" && kind !== "commit") {
    const found = await readSnapshot(ctx, repo, (snapshot) => findLeadingKind(snapshot, path));
    const start = found ?? `branch/${encodePath(repo.row.defaultBranch)}`;
    const sent = requestPath(c.req.url).split("/").slice(4).join("/");
    const { search } = new URL(c.req.url);
    return c.redirect(`${htmlUrlOf(repo, ctx)}/${noun}/${start}/${sent}${search}`, 303);
  }
  return answerRepositoryFile(
    { ctx, repo, request: c.req.raw },
    (snapshot) => findFileBelow(snapshot, kind, rest.join("/")),
    OPENERS[noun as keyof typeof OPENERS],
  );
});

// Files of wikis: the newest, or those of a commit.
rawFiles.get("/:owner/:repo/wiki/raw/:path{.+}", async (c, next) => {
  const { owner, repo: name, path } = c.req.param();
  if (owner === "api") return next();
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, { unit: "wiki", mode: "read" });
  if (repo.row.wikiBranch === "") throw notFound();
  const rev = c.req.query("rev") ?? "";
  return answerRepositoryFile(
    { ctx, repo: toWiki(repo), request: c.req.raw },
    (snapshot) => findWikiFile(snapshot, path, rev),
    openBlob,
  );
});

rawFiles.onError(renderFailure);
