import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { TO_SEE } from "../auth/access/requirement.ts";
import type { Ctx } from "../context.ts";
import {
  listOrganizationActivities,
  listRepositoryActivities,
  listUserActivities,
} from "../domain/exchange/activities/list-activities.ts";
import {
  type ActivityEntry,
  activityId,
  comparedRange,
  findOperation,
  type OpType,
} from "../shapes/events/activity.ts";
import { enterAccountPath } from "./enter-account-path.ts";
import { enterRepositoryPath } from "./enter-repository-path.ts";
import type { WebEnv } from "./env.ts";
import { answerFeedDocument } from "./answer-feed-document.ts";
import type { FeedItem } from "./feed-document.ts";
import { renderFailure } from "./render-failure.ts";
import { commentHtmlUrlOf } from "../shapes/issues/comment.ts";
import { issueHtmlUrlOf } from "../shapes/issues/issue.ts";
import { accountUrlOf, htmlUrlOf, releaseHtmlUrlOf } from "../shapes/urls.ts";

/** RSS and Atom feeds of the activities of an account or a repository. */
export const feeds = new Hono<WebEnv>({ router: new TrieRouter() });

const ITEMS = { size: 30, offset: 0 };

feeds.get("/:name{[^/]+\\.(?:rss|atom)}", async (c) => {
  const [name, ending] = splitEnding(c.req.param("name"));
  const { ctx, account } = await enterAccountPath(c, name, ending);
  const { items } =
    account.kind === "organization"
      ? await listOrganizationActivities(ctx, account, {}, ITEMS)
      : await listUserActivities(ctx, account, { isOwnOnly: true }, ITEMS);
  const about = { name: account.name, description: account.description };
  return answerFeed(c, ctx, ending, about, items);
});

feeds.get("/:owner/:name{[^/]+\\.(?:rss|atom)}", async (c, next) => {
  const owner = c.req.param("owner");
  // Paths of the API begin with "api", which is a reserved account name.
  if (owner === "api") return next();
  const [name, ending] = splitEnding(c.req.param("name"));
  const { ctx, repo } = await enterRepositoryPath(c, owner, name, TO_SEE, ending);
  const { items } = await listRepositoryActivities(ctx, repo.row, {}, ITEMS);
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
  const { opType, update } = findOperation(entry);
  const repoName = `${repo.owner.name}/${repo.row.name}`;
  const ref = update?.ref.replace(/^refs\/(?:heads|tags)\//, "") ?? entry.release?.tagName ?? "";
  const object = entry.issue ? `${repoName}#${entry.issue.row.number}` : ref;
  const isWhole = entry.issue !== undefined;
  return {
    // Stays the same after a rename.
    id: `tag:${authority},2025:activity:${activityId(entry)}`,
    title: `${actor.name} ${DEEDS[opType](object)}${isWhole ? "" : ` ${repoName}`}`,
    text: textOf(entry, update),
    url: urlOf(entry, update, rootUrl),
    authorName: actor.fullName || actor.name,
    at: event.createdAt,
  };
}

type Update = ReturnType<typeof findOperation>["update"];

/** Characters of a comment in a feed. */
const TEXT_CHARS_MAX = 10_000;

/** The messages of pushed commits, the text of a comment or release, or the title of an issue. */
function textOf({ issue, comment, release }: ActivityEntry, update: Update): string {
  if (release) return [release.title, release.body.slice(0, TEXT_CHARS_MAX)].join("\n").trim();
  if (issue) return comment?.row.body.slice(0, TEXT_CHARS_MAX) ?? issue.row.title;
  return (update?.commits ?? []).map(({ oid, message }) => `${oid}\n${message}`).join("\n");
}

function urlOf(
  { repo, issue, comment, release }: ActivityEntry,
  update: Update,
  rootUrl: string,
): string {
  if (release) return releaseHtmlUrlOf(repo, release.tagName, { rootUrl });
  if (comment) return commentHtmlUrlOf(comment.issue, comment.row.id, { rootUrl });
  if (issue) return issueHtmlUrlOf(issue, { rootUrl });
  const repoUrl = htmlUrlOf(repo, { rootUrl });
  const compared = update && comparedRange(update, repo.row.defaultBranch);
  return compared === undefined ? repoUrl : `${repoUrl}/compare/${compared}`;
}

/** @param object The ref of a push, or the issue. */
const DEEDS: Readonly<Record<OpType, (object: string) => string>> = {
  create_repo: () => "created repository",
  rename_repo: () => "renamed repository",
  star_repo: () => "starred",
  watch_repo: () => "started watching",
  commit_repo: (ref) => `pushed to ${ref} at`,
  transfer_repo: () => "transferred repository",
  push_tag: (ref) => `pushed tag ${ref} to`,
  delete_tag: (ref) => `deleted tag ${ref} from`,
  delete_branch: (ref) => `deleted branch ${ref} from`,
  mirror_sync_push: (ref) => `synced commits to ${ref} from the mirrored repository at`,
  mirror_sync_create: (ref) => `synced new reference ${ref} from the mirrored repository to`,
  mirror_sync_delete: (ref) => `synced and deleted reference ${ref} at`,
  create_issue: (issue) => `opened issue ${issue}`,
  close_issue: (issue) => `closed issue ${issue}`,
  reopen_issue: (issue) => `reopened issue ${issue}`,
  comment_issue: (issue) => `commented on issue ${issue}`,
  create_pull_request: (pull) => `created pull request ${pull}`,
  close_pull_request: (pull) => `closed pull request ${pull}`,
  reopen_pull_request: (pull) => `reopened pull request ${pull}`,
  comment_pull: (pull) => `commented on pull request ${pull}`,
  merge_pull_request: (pull) => `merged pull request ${pull}`,
  auto_merge_pull_request: (pull) => `automatically merged pull request ${pull}`,
  approve_pull_request: (pull) => `approved ${pull}`,
  reject_pull_request: (pull) => `suggested changes for ${pull}`,
  pull_review_dismissed: (pull) => `dismissed a review of ${pull}`,
  pull_request_ready_for_review: (pull) => `marked ${pull} as ready for review`,
  publish_release: (tag) => `published release ${tag} of`,
};
