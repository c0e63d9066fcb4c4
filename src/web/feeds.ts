import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { TO_SEE } from "../auth/access/requirement.ts";
import type { Ctx } from "../context.ts";
import {
  listOrganizationActivities,
  listRepositoryActivities,
  listUserActivities,
} from "../domain/exchange/activities/list-activities.ts";
import { type ActivityEntry, activityId, findOperation } from "../shapes/events/activity.ts";
import { activityUrlOf, describeActivity } from "./activity-words.ts";
import { enterAccountPath } from "./enter-account-path.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import { answerFeedDocument } from "./answer-feed-document.ts";
import type { FeedItem } from "./feed-document.ts";
import { renderFailure } from "./render-failure.ts";
import { accountUrlOf } from "../shapes/urls.ts";

/** RSS and Atom feeds of the activities of an account or a repository. */
export const feeds = new Hono<WebEnv>({ router: new TrieRouter() });

const ITEMS = { size: 30, offset: 0 };
const UNCOUNTED = { isCounted: false };

feeds.get("/:name{[^/]+\\.(?:rss|atom)}", async (c) => {
  const [name, ending] = splitEnding(c.req.param("name"));
  const { ctx, account } = await enterAccountPath(c, name, ending);
  const { items } =
    account.kind === "organization"
      ? await listOrganizationActivities(ctx, account, UNCOUNTED, ITEMS)
      : await listUserActivities(ctx, account, { ...UNCOUNTED, isOwnOnly: true }, ITEMS);
  const about = { name: account.name, description: account.description };
  return answerFeed(c, ctx, ending, about, items);
});

feeds.get("/:owner/:name{[^/]+\\.(?:rss|atom)}", async (c, next) => {
  const owner = c.req.param("owner");
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const [name, ending] = splitEnding(c.req.param("name"));
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, TO_SEE, ending);
  const { items } = await listRepositoryActivities(ctx, repo.row, UNCOUNTED, ITEMS);
  const about = {
    name: `${repo.owner.name}/${repo.row.name}`,
    description: repo.row.description,
  };
  return answerFeed(c, ctx, ending, about, items);
});

feeds.onError(renderFailure);

/** `project.rss` → `project`, `.rss`. */
function splitEnding(text: string): [name: string, ending: string] {
  const at = text.lastIndexOf(".");
  return [text.slice(0, at), text.slice(at)];
}

/** Sends a feed of activities. */
function answerFeed(
  c: Context<WebEnv>,
  { rootUrl, publicUrl }: Ctx,
  ending: string,
  { name, description }: { name: string; description: string },
  entries: readonly ActivityEntry[],
): Promise<Response> {
  const pageUrl = accountUrlOf({ name }, { rootUrl });
  return answerFeedDocument(c, ending, {
    title: `Feed of ${name}`,
    description,
    pageUrl,
    feedUrl: `${pageUrl}${ending}`,
    items: entries.map((entry) => toItem(entry, rootUrl, new URL(publicUrl).hostname)),
  });
}

/** @param authority The host in the item's id, which is the same by whatever name a reader asks. */
function toItem(entry: ActivityEntry, rootUrl: string, authority: string): FeedItem {
  const { event, actor, repo } = entry;
  const { words, isWhole } = describeActivity(entry);
  const repoName = `${repo.owner.name}/${repo.row.name}`;
  return {
    // Stays the same after a rename.
    id: `tag:${authority},2025:activity:${activityId(entry)}`,
    title: `${actor.name} ${words}${isWhole ? "" : ` ${repoName}`}`,
    text: textOf(entry),
    url: activityUrlOf(entry, { rootUrl }),
    authorName: actor.fullName || actor.name,
    at: event.createdAt,
  };
}

/** Characters of a comment in a feed. */
const TEXT_CHARS_MAX = 10_000;

/** The messages of pushed commits, the text of a comment or release, or the title of an issue. */
function textOf(entry: ActivityEntry): string {
  const { issue, comment, release } = entry;
  const { update } = findOperation(entry);
  if (release) return [release.title, release.body.slice(0, TEXT_CHARS_MAX)].join("\n").trim();
  if (issue) return comment?.row.body.slice(0, TEXT_CHARS_MAX) ?? issue.row.title;
  return (update?.commits ?? []).map(({ oid, message }) => `${oid}\n${message}`).join("\n");
}
