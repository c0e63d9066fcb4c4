import { type Context, Hono, type Next } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Requirement } from "../auth/access/requirement.ts";
import { openSnapshot } from "../domain/code/git/open-snapshot.ts";
import { listReleases } from "../domain/packages/releases/list-releases.ts";
import { listTags } from "../domain/code/tags/list-tags.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import { decodeText } from "../git/byte-text.ts";
import { gitTimeMs } from "../shapes/git/git-time.ts";
import { encodePath, htmlUrlOf, releaseHtmlUrlOf } from "../shapes/urls.ts";
import { answerFeedDocument } from "./answer-feed-document.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import type { FeedItem } from "./feed-document.ts";
import { renderFailure } from "./render-failure.ts";

/** RSS and Atom feeds of the releases and the tags of a repository. */
export const releaseFeeds = new Hono<WebEnv>({ router: new TrieRouter() });

const ITEMS = { size: 30, offset: 0 };
/** Characters of a text in a feed. */
const TEXT_CHARS_MAX = 10_000;

const ENDING = "{releases\\.(?:rss|atom)}";
const TAG_ENDING = "{tags\\.(?:rss|atom)}";

releaseFeeds.get(`/:owner/:repo/:feed${ENDING}`, (c, next) =>
  answer(c, next, { unit: "releases", mode: "read" }, listPublished),
);

releaseFeeds.get(`/:owner/:repo/:feed${TAG_ENDING}`, (c, next) =>
  answer(c, next, { unit: "code", mode: "read" }, listTagged),
);

releaseFeeds.onError(renderFailure);

async function answer(
  c: Context<WebEnv>,
  next: Next,
  requirement: Requirement,
  list: (context: RequestContext, authority: string) => Promise<FeedItem[]>,
): Promise<Response | void> {
  const { owner = "", repo: name = "", feed = "" } = c.req.param() as Record<string, string>;
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const context = await enterRepositoryPath(c, owner, name, requirement);
  const { ctx, repo } = context;
  const [subject = "", ending = ""] = feed.split(".");
  const pageUrl = `${htmlUrlOf(repo, ctx)}/${subject}`;
  const items = await list(context, new URL(ctx.publicUrl).hostname);
  return answerFeedDocument(c, `.${ending}`, {
    title: `${subject === "tags" ? "Tags" : "Releases"} of ${repo.owner.name}/${repo.row.name}`,
    description: repo.row.description,
    pageUrl,
    feedUrl: `${pageUrl}.${ending}`,
    items,
  });
}

/**
 * SECURITY: published releases only, for every caller: feeds are kept and shared by their readers.
 */
async function listPublished(
  { ctx, repo }: RequestContext,
  authority: string,
): Promise<FeedItem[]> {
  const { items } = await listReleases(ctx, repo, { isDraft: false }, ITEMS);
  return items.map(({ row, publisher }) => ({
    id: `tag:${authority},2025:release:${row.id}`,
    title: row.title || row.tagName,
    text: row.body.slice(0, TEXT_CHARS_MAX),
    url: releaseHtmlUrlOf(repo, row.tagName, ctx),
    authorName: publisher ? publisher.fullName || publisher.name : "Ghost",
    at: row.publishedAt ?? row.createdAt,
  }));
}

async function listTagged({ ctx, repo }: RequestContext, authority: string): Promise<FeedItem[]> {
  const { items } = await listTags(await openSnapshot(ctx, repo), ITEMS);
  return items.map(({ name, commitOid, message, timeSeconds }) => ({
    // A tag that is moved is news.
    id: `tag:${authority},2025:tag:${repo.row.id}:${encodePath(name)}:${commitOid}`,
    title: name,
    text: decodeText(message).slice(0, TEXT_CHARS_MAX),
    url: `${htmlUrlOf(repo, ctx)}/src/tag/${encodePath(name)}`,
    authorName: repo.owner.fullName || repo.owner.name,
    at: gitTimeMs(timeSeconds),
  }));
}
