import { z } from "zod";

import {
  flag,
  id,
  listOf,
  longText,
  optionalLong,
  optionalShort,
  shortText,
  time,
  timeOrNull,
} from "../fields.ts";

/** What is read of the API's records. @see https://github.com/gogs/docs-api */
export const User = z.object({ id, login: optionalShort, username: optionalShort });
export type User = z.output<typeof User>;

export const Repository = z.object({
  description: optionalLong,
  website: optionalShort,
  private: flag,
  default_branch: optionalShort,
  clone_url: shortText,
  html_url: shortText,
});

export const Label = z.object({ id, name: shortText, color: shortText });

const State = z.enum(["open", "closed"]);

export const Milestone = z.object({
  id,
  title: shortText,
  description: optionalLong,
  state: State,
  due_on: timeOrNull,
  closed_at: timeOrNull,
});

const WithId = z.object({ id });

export const Issue = z.object({
  id,
  number: id,
  user: User.nullish(),
  title: longText,
  body: optionalLong,
  labels: listOf(WithId),
  milestone: WithId.nullish(),
  assignee: User.nullish(),
  state: State,
  comments: z.int().min(0),
  created_at: time,
  updated_at: time,
});
export type Issue = z.output<typeof Issue>;

export const Comment = z.object({
  id,
  user: User.nullish(),
  body: optionalLong,
  created_at: time,
  updated_at: time,
});

export const Release = z.object({
  id,
  tag_name: shortText,
  target_commitish: optionalShort,
  name: optionalLong,
  body: optionalLong,
  draft: flag,
  prerelease: flag,
  author: User.nullish(),
  created_at: time,
});
