import { inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Database, qualified } from "../../db/db.ts";
import { type Params, prepareAll } from "../../db/prepared.ts";
import {
  issues,
  type Notification,
  pulls,
  releases,
  timelineEntries,
} from "../../db/schema/index.ts";
import type { NotificationContext } from "../../shapes/issues/notification-thread.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** What a notification is about: an issue, a release, or neither. */
export type NotificationSubject = Pick<NotificationContext, "issue" | "release" | "lastCommentId">;

/** The columns of an issue or pull request as a notification shows it. */
export const issueSubject = () => ({
  id: sql<number | null>`${issues.id}`.as("i_id"),
  repoId: sql<number>`${issues.repoId}`.as("i_repo_id"),
  number: sql<number>`${issues.number}`.as("i_number"),
  title: sql<string>`${issues.title}`.as("i_title"),
  isPull: sql<boolean>`${issues.isPull}`.mapWith(issues.isPull).as("i_is_pull"),
  isMerged: qualified<boolean>(sql`exists (
    select 1
    from ${pulls}
    where ${pulls.issueId} = ${issues.id} and ${pulls.mergedAt} is not null
  )`)
    .mapWith(issues.isClosed)
    .as("i_is_merged"),
  isClosed: sql<boolean>`${issues.isClosed}`.mapWith(issues.isClosed).as("i_is_closed"),
  lastCommentId: qualified<number | null>(sql`(
    select max(${timelineEntries.id})
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issues.id} and ${timelineEntries.kind} = 'comment'
  )`).as("i_last_comment_id"),
});

/** The columns of a release as a notification shows it. */
export const releaseSubject = () => ({
  id: sql<number | null>`${releases.id}`.as("r_id"),
  repoId: sql<number>`${releases.repoId}`.as("r_repo_id"),
  tagName: sql<string>`${releases.tagName}`.as("r_tag_name"),
  title: sql<string>`${releases.title}`.as("r_title"),
  isDraft: sql<boolean>`${releases.isDraft}`.mapWith(releases.isDraft).as("r_is_draft"),
});

const subjectsOfIds = prepareAll(
  (db, p: Params<{ issueIds: readonly number[]; releaseIds: readonly number[] }>) => [
    db.select(issueSubject()).from(issues).where(inArray(issues.id, p.issueIds)),
    db.select(releaseSubject()).from(releases).where(inArray(releases.id, p.releaseIds)),
  ],
);

type Rows = Awaited<ReturnType<typeof findSubjects>>;
type IssueRow = Rows[0][number];
type ReleaseRow = Rows[1][number];

const findSubjects = (db: Database, ids: { issueIds: number[]; releaseIds: number[] }) =>
  db.batch(subjectsOfIds(db, ids));

/** A subject, of rows that have an id only where there is one. */
export const toSubject = (
  issue: IssueRow | null | undefined,
  release: ReleaseRow | null | undefined,
): NotificationSubject => ({
  issue: issue?.id == null ? undefined : issue,
  release: release?.id == null ? undefined : { ...release, id: release.id },
  lastCommentId: issue?.lastCommentId ?? null,
});

/** A notification with its repository. */
interface OfRepository {
  readonly row: Notification;
  readonly repo: RepositoryContext;
}

/**
 * Reads the subjects of notifications whose repositories are in shards, from all of these at the same time.
 *
 * @returns A function from such a notification to its subject.
 */
export async function findSubjectsInShards(
  ctx: Ctx,
  notifications: readonly OfRepository[],
): Promise<(notification: Notification) => NotificationSubject> {
  const byShard = Map.groupBy(notifications, ({ repo }) => repo.row.shard);
  byShard.delete(0);
  const found = await Promise.all(
    [...byShard].map(([shard, some]) =>
      findSubjects(ctx.openShard(shard), {
        issueIds: some.flatMap(({ row }) => row.issueId ?? []),
        releaseIds: some.flatMap(({ row }) => row.releaseId ?? []),
      }),
    ),
  );
  const issuesById = new Map(found.flatMap(([some]) => some.map((row) => [row.id, row])));
  const releasesById = new Map(found.flatMap(([, some]) => some.map((row) => [row.id, row])));
  return ({ repoId, issueId, releaseId }) => {
    const issue = issuesById.get(issueId);
    const release = releasesById.get(releaseId);
    // SECURITY: what the reader may see was decided for the repository of the notification.
    return toSubject(
      issue?.repoId === repoId ? issue : undefined,
      release?.repoId === repoId ? release : undefined,
    );
  };
}
