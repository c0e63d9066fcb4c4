import { z } from "zod";

import { issueNumber, listOf, optionalLong, shortText, time, timeOrNull } from "../fields.ts";
import type { ForeignFilter, ForeignIssue, ForeignReaction } from "../forge.ts";
import { Account, Id, ReactionCounts, Referenced } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { type ListPage, readListPage } from "./list-page.ts";

/**
 * An issue or pull request, as the list of issues has it.
 *
 * @see https://docs.github.com/en/rest/issues/issues#list-repository-issues
 */
const Thread = z.object({
  id: Id,
  number: issueNumber,
  title: shortText,
  body: optionalLong,
  user: Account,
  labels: listOf(Referenced),
  milestone: Referenced.nullish(),
  assignees: listOf(Account),
  reactions: ReactionCounts,
  locked: z.boolean(),
  state: z.enum(["open", "closed"]),
  closed_at: timeOrNull,
  created_at: time,
  updated_at: time,
  /** Present for pull requests only. */
  pull_request: z.object({}).nullish(),
});
export type Thread = z.infer<typeof Thread>;

/**
 * Reads a page of issues and pull requests, oldest first.
 *
 * Pull requests are listed by it too, since their own list has neither reactions nor a filter by
 * the time of the last change.
 */
export const readThreads = (
  api: GitHubApi,
  cursor: string | undefined,
  { since }: ForeignFilter,
): Promise<ListPage<Thread>> =>
  readListPage(
    api,
    `${api.path}/issues`,
    Thread,
    { state: "all", sort: "created", direction: "asc", since: formatSince(since) },
    cursor,
  );

/** A time as GitHub's lists read it; undefined for all times. */
export const formatSince = (since: number | undefined): string | undefined =>
  since === undefined ? undefined : new Date(since).toISOString().replace(/\.\d+/, "");

export const isPull = (thread: Thread): boolean => Boolean(thread.pull_request);

/** The fields that issues and pull requests share. */
export const toThreadFields = (
  thread: Thread,
  reactions: readonly ForeignReaction[],
): Omit<ForeignIssue, "kind"> => ({
  foreignId: String(thread.id),
  number: thread.number,
  poster: thread.user,
  title: thread.title,
  body: thread.body,
  ref: "",
  labelIds: thread.labels.map(({ id }) => String(id)),
  milestoneId: thread.milestone ? String(thread.milestone.id) : null,
  assignees: thread.assignees,
  reactions,
  isLocked: thread.locked,
  isClosed: thread.state === "closed",
  closedAt: thread.closed_at,
  // GitHub has deadlines for milestones only.
  deadlineAt: null,
  createdAt: thread.created_at,
  updatedAt: thread.updated_at,
});
