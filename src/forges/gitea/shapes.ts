import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import {
  flag,
  id,
  issueNumber,
  listOf,
  optionalLong,
  optionalShort,
  optionalTitleText,
  shortText,
  time,
  timeOrNull,
  titleText,
} from "../fields.ts";

/** The read fields of the API's records; others are ignored. @see https://docs.gitea.com/api */
export const GiteaUser = z.object({ id, login: shortText });
const Author = { user: GiteaUser.nullish(), original_author: optionalShort };

export const ApiSettings = z.object({ max_response_items: z.int() });

const Named = z.object({ full_name: shortText });

export const GiteaRepository = z.object({
  full_name: shortText,
  description: optionalLong,
  website: optionalShort,
  private: flag,
  archived: flag,
  default_branch: optionalShort,
  clone_url: shortText,
  html_url: shortText,
  has_issues: flag,
  has_pull_requests: flag,
  /** Absent in versions before 1.23. */
  topics: boundedList(shortText, 1000).nullish(),
});

export const Topics = z.object({ topics: listOf(shortText, 1000) });

export const GiteaLabel = z.object({
  id,
  name: shortText,
  color: shortText,
  description: optionalLong,
  exclusive: flag,
  is_archived: flag,
});

const State = z.enum(["open", "closed"]);

export const GiteaMilestone = z.object({
  id,
  title: shortText,
  description: optionalLong,
  state: State,
  due_on: timeOrNull,
  closed_at: timeOrNull,
  /** Absent in old versions. */
  created_at: timeOrNull,
  updated_at: timeOrNull,
});

const WithId = z.object({ id });

const issueFields = {
  id,
  number: issueNumber,
  ...Author,
  title: titleText,
  body: optionalLong,
  labels: listOf(WithId),
  milestone: WithId.nullish(),
  assignee: GiteaUser.nullish(),
  assignees: listOf(GiteaUser),
  state: State,
  is_locked: flag,
  due_date: timeOrNull,
  created_at: time,
  updated_at: time,
  closed_at: timeOrNull,
};

export const GiteaIssue = z.object({ ...issueFields, ref: optionalShort });
export type GiteaIssue = z.output<typeof GiteaIssue>;

const Branch = z.object({
  label: optionalShort,
  ref: shortText,
  sha: optionalShort,
  repo: Named.nullish(),
});
export type Branch = z.output<typeof Branch>;

export const GiteaPull = z.object({
  ...issueFields,
  draft: flag,
  merged: flag,
  merged_at: timeOrNull,
  merged_by: GiteaUser.nullish(),
  merge_commit_sha: optionalShort,
  merge_base: optionalShort,
  allow_maintainer_edit: flag,
  base: Branch,
  head: Branch,
});
export type GiteaPull = z.output<typeof GiteaPull>;

export const GiteaComment = z.object({
  id,
  ...Author,
  body: optionalLong,
  issue_url: optionalShort,
  pull_request_url: optionalShort,
  created_at: time,
  updated_at: time,
});

export const GiteaReaction = z.object({ user: GiteaUser.nullish(), content: shortText });

export const GiteaReview = z.object({
  id,
  user: GiteaUser.nullish(),
  /** "" of entries that the API does not name. */
  state: z.enum(["APPROVED", "PENDING", "COMMENT", "REQUEST_CHANGES", "REQUEST_REVIEW", ""]),
  body: optionalLong,
  commit_id: optionalShort,
  official: flag,
  dismissed: flag,
  comments_count: z.int().min(0).nullish(),
  submitted_at: time,
});
export type GiteaReview = z.output<typeof GiteaReview>;

export const ReviewComment = z.object({
  id,
  user: GiteaUser.nullish(),
  body: optionalLong,
  path: shortText,
  /** The line after the change; 0 if it is about a line before it. */
  position: z.int().min(0).nullish(),
  original_position: z.int().min(0).nullish(),
  commit_id: optionalShort,
  original_commit_id: optionalShort,
  diff_hunk: optionalLong,
  resolver: GiteaUser.nullish(),
  /** The first comment of its conversation, or null for that; of this service's API alone. */
  in_reply_to: id.nullish(),
  created_at: time,
  updated_at: time,
});
export type ReviewComment = z.output<typeof ReviewComment>;

export const GiteaRelease = z.object({
  id,
  tag_name: shortText,
  target_commitish: optionalShort,
  name: optionalTitleText,
  body: optionalLong,
  draft: flag,
  prerelease: flag,
  author: GiteaUser.nullish(),
  created_at: time,
  assets: listOf(
    z.object({
      id,
      name: shortText,
      size: z.int().min(0).nullish(),
      download_count: z.int().min(0).nullish(),
      created_at: time,
      browser_download_url: shortText,
    }),
  ),
});
