import {
  type ActivityEntry,
  comparedRange,
  findOperation,
  type OpType,
} from "../shapes/events/activity.ts";
import { entryHtmlUrlOf } from "../shapes/issues/comment.ts";
import { issueHtmlUrlOf } from "../shapes/issues/issue.ts";
import { htmlUrlOf, releaseHtmlUrlOf, type Root } from "../shapes/urls.ts";

/** What an activity did, in words that follow the name of its actor. */
export function describeActivity(entry: ActivityEntry): {
  words: string;
  /** Whether the words name the repository, which follows them otherwise. */
  isWhole: boolean;
} {
  const { repo, issue, release } = entry;
  const { opType, update } = findOperation(entry);
  const ref = update?.ref.replace(/^refs\/(?:heads|tags)\//, "") ?? release?.tagName ?? "";
  const object = issue ? `${repo.owner.name}/${repo.row.name}#${issue.row.number}` : ref;
  return { words: DEEDS[opType](object), isWhole: issue !== undefined };
}

/** The URL of the page about an activity; a path with an empty `rootUrl`. */
export function activityUrlOf(entry: ActivityEntry, root: Root): string {
  const { repo, issue, comment, release } = entry;
  if (release) return releaseHtmlUrlOf(repo, release.tagName, root);
  if (comment) return entryHtmlUrlOf(comment.issue, comment.row.id, root);
  if (issue) return issueHtmlUrlOf(issue, root);
  const { update } = findOperation(entry);
  const compared = update && comparedRange(update, repo.row.defaultBranch);
  const repoUrl = htmlUrlOf(repo, root);
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
