import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { listCommits } from "../domain/code/commits/list-commits.ts";
import { readCommits } from "../domain/code/commits/read-commits.ts";
import { splitPath } from "../domain/code/contents/find-entry.ts";
import { findRefPath } from "../domain/code/git/find-ref-path.ts";
import { readSnapshot } from "../domain/code/git/open-snapshot.ts";
import { notFound } from "../lib/failure.ts";
import { type CommitEntry, decodeCommitText } from "../shapes/git/commit.ts";
import { gitTimeMs } from "../shapes/git/git-time.ts";
import { encodePath, htmlUrlOf } from "../shapes/urls.ts";
import { answerFeedDocument } from "./answer-feed-document.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import type { FeedItem } from "./feed-document.ts";
import { renderFailure } from "./render-failure.ts";

/** RSS and Atom feeds of the commits of a branch, or of those that changed a path in it. */
export const commitFeeds = new Hono<WebEnv>({ router: new TrieRouter() });

const ITEMS = { size: 30, offset: 0 };
/** Characters of a message in a feed. */
const TEXT_CHARS_MAX = 10_000;

const PARTS = { hasStat: false, hasFiles: false, hasVerification: false } as const;

commitFeeds.get("/:owner/:repo/:format{rss|atom}/branch/:path{.+}", async (c, next) => {
  const { owner, repo: name, format, path } = c.req.param();
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, { unit: "code", mode: "read" });
  const found = await readSnapshot(ctx, repo, async (snapshot) => {
    const at = await findRefPath(snapshot, "branch", splitPath(path));
    if (!at) return undefined;
    const { revision, names } = at;
    const below = names.length === 0 ? {} : { path: names.join("/") };
    const { items } = await listCommits(snapshot, { tips: [revision.node], ...below }, ITEMS);
    // A path without a history does not exist.
    if (items.length === 0) return undefined;
    return { revision, names, entries: await readCommits(ctx, snapshot, items, PARTS) };
  });
  if (!found) throw notFound();
  const { revision, names, entries } = found;
  const repoUrl = htmlUrlOf(repo, ctx);
  const place = encodePath([revision.name, ...names].join("/"));
  const subject = names.length === 0 ? revision.name : `${names.join("/")} on ${revision.name}`;
  return answerFeedDocument(c, `.${format}`, {
    title: `Commits of ${subject} - ${repo.owner.name}/${repo.row.name}`,
    description: repo.row.description,
    pageUrl: `${repoUrl}/commits/branch/${place}`,
    feedUrl: `${repoUrl}/${format}/branch/${place}`,
    items: entries.map((entry) => toItem(entry, repoUrl)),
  });
});

commitFeeds.onError(renderFailure);

function toItem({ commit, commitOid }: CommitEntry, repoUrl: string): FeedItem {
  const url = `${repoUrl}/commit/${commitOid}`;
  const message = decodeCommitText(commit, commit.message).trim();
  return {
    id: url,
    title: message.split("\n", 1)[0] || commitOid,
    text: message.slice(0, TEXT_CHARS_MAX),
    url,
    authorName: decodeCommitText(commit, commit.author.name),
    at: gitTimeMs(commit.committer.timeSeconds),
  };
}
