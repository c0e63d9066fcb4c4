import { z } from "zod";

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

/** The read fields of the API's records. @see https://github.com/gogs/docs-api */
export const GogsUser = z.object({ id, login: optionalShort, username: optionalShort });
export type GogsUser = z.output<typeof GogsUser>;

export const GogsRepository = z.object({
  description: optionalLong,
  website: optionalShort,
  private: flag,
  default_branch: optionalShort,
  clone_url: shortText,
  html_url: shortText,
});

export const GogsLabel = z.object({ id, name: shortText, color: shortText });

const State = z.enum(["open", "closed"]);

export const GogsMilestone = z.object({
  id,
  title: shortText,
  description: optionalLong,
  state: State,
  due_on: timeOrNull,
  closed_at: timeOrNull,
});

const WithId = z.object({ id });

export const GogsIssue = z.object({
  id,
  number: issueNumber,
  user: GogsUser.nullish(),
  title: titleText,
  body: optionalLong,
  labels: listOf(WithId),
  milestone: WithId.nullish(),
  assignee: GogsUser.nullish(),
  state: State,
  comments: z.int().min(0),
  created_at: time,
  updated_at: time,
});
export type GogsIssue = z.output<typeof GogsIssue>;

export const GogsComment = z.object({
  id,
  user: GogsUser.nullish(),
  body: optionalLong,
  created_at: time,
  updated_at: time,
});

export const GogsRelease = z.object({
  id,
  tag_name: shortText,
  target_commitish: optionalShort,
  name: optionalTitleText,
  body: optionalLong,
  draft: flag,
  prerelease: flag,
  author: GogsUser.nullish(),
  created_at: time,
});
