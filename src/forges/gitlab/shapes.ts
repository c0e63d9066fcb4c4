import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { flag, issueNumber, listOf, longText, shortText, time, timeOrNull } from "../fields.ts";
import type { ForeignUser } from "../forge.ts";

/** Ids and numbers, from 1. */
export const Id = z.int().positive();
/** The number of an issue or merge request in its project. */
export const Iid = issueNumber;

/** A day, read as its last second in UTC, in milliseconds: what is due on it is not late before. */
export const DueDate = z.iso.date().transform((day) => Date.parse(`${day}T23:59:59Z`));

/** An id of a commit; "" for none. */
export const OptionalOid = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})?$/)
  .nullish()
  .transform((oid) => oid ?? "");

/** The account that stands for all that were deleted. */
const GHOST = "ghost";

/** An account as it is sent; null or missing if it is gone. */
const Account = z.object({ id: Id, username: shortText }).nullish();

/** An account; one that is gone is GitLab's ghost. */
export const GitLabUser = Account.transform((account): ForeignUser => {
  if (!account || account.username === GHOST) return { id: 0, name: GHOST };
  return { id: account.id, name: account.username };
});

const Users = listOf(GitLabUser, 1000);

/** The fields that issues and merge requests share in a list with details of labels. */
export const issuableFields = {
  id: Id,
  iid: Iid,
  title: shortText,
  description: longText.nullish(),
  state: shortText,
  created_at: time,
  updated_at: time,
  closed_at: timeOrNull.optional(),
  author: GitLabUser,
  assignees: Users,
  labels: boundedList(z.object({ id: Id }), 1000),
  milestone: z.object({ id: Id }).nullish(),
  discussion_locked: flag,
  /** The number of people's comments; null or missing if unknown. */
  user_notes_count: z.int().nonnegative().nullish(),
};

export const GitLabIssue = z.object({
  ...issuableFields,
  due_date: DueDate.nullish(),
  confidential: flag,
});
export type GitLabIssue = z.infer<typeof GitLabIssue>;

export const MergeRequest = z.object({
  ...issuableFields,
  draft: z.boolean().nullish(),
  /** The older name of `draft`. */
  work_in_progress: z.boolean().nullish(),
  source_branch: shortText,
  target_branch: shortText,
  /** Null if its repository is gone. */
  source_project_id: Id.nullish(),
  target_project_id: Id,
  sha: OptionalOid,
  merge_commit_sha: OptionalOid,
  squash_commit_sha: OptionalOid,
  merged_at: timeOrNull.optional(),
  merge_user: Account,
  /** The older name of `merge_user`. */
  merged_by: Account,
  reviewers: Users,
  allow_collaboration: z.boolean().nullish(),
  /** The older name of `allow_collaboration`. */
  allow_maintainer_to_push: z.boolean().nullish(),
});
export type MergeRequest = z.infer<typeof MergeRequest>;

const Position = z.object({
  head_sha: OptionalOid,
  old_path: shortText.nullish(),
  new_path: shortText.nullish(),
  old_line: z.int().nonnegative().nullish(),
  new_line: z.int().nonnegative().nullish(),
});

export const GitLabNote = z.object({
  id: Id,
  type: z.string().nullish(),
  body: longText,
  author: GitLabUser,
  created_at: time,
  updated_at: time,
  /** Whether GitLab wrote it about a change. */
  system: z.boolean(),
  /** Whether only members may see it. */
  internal: flag,
  /** The older name of `internal`. */
  confidential: flag,
  resolved: flag,
  position: Position.nullish(),
});
export type GitLabNote = z.infer<typeof GitLabNote>;

/** Whether a comment is about a line or a file of a merge request, instead of all of it. */
export const isOnCode = ({ type, position }: GitLabNote): boolean =>
  type === "DiffNote" && Boolean(position?.new_path || position?.old_path);

/** Whether a comment is written by somebody, and not for members only. */
export const isForReaders = ({ system, internal, confidential }: GitLabNote): boolean =>
  !system && !internal && !confidential;
