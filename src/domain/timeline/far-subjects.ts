import { inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type CrossShardReference, issues, timelineEntries } from "../../db/schema/index.ts";
import type { CommentContext } from "../../shapes/issues/comment.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { selectComments, toCommentContext } from "../comments/select-comments.ts";
import { selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { readByShard } from "../shards/read-by-shard.ts";

/** What an entry of a timeline tells of, in another database. */
export interface FarSubject {
  readonly issue: IssueContext;
  /** Undefined if it is the issue itself. */
  readonly comment: CommentContext | undefined;
}

/**
 * Finds what entries of timelines tell of in other databases. What was deleted a moment ago is missing.
 *
 * Cost: one round trip to each of these databases.
 *
 * @param repos Their repositories by id, with the permission of the caller.
 * @returns By the id of the entry.
 */
export async function findFarSubjects(
  ctx: Ctx,
  references: readonly CrossShardReference[],
  repos: ReadonlyMap<number, RepositoryContext>,
): Promise<ReadonlyMap<number, FarSubject>> {
  const shardOf = ({ repoId }: CrossShardReference) => repos.get(repoId)?.row.shard;
  return new Map(
    await readByShard(ctx, references, shardOf, (db, some) => findIn(db, some, repos)),
  );
}

async function findIn(
  db: Ctx["db"],
  references: readonly CrossShardReference[],
  repos: ReadonlyMap<number, RepositoryContext>,
) {
  const listOf = (ids: readonly (number | null)[]) =>
    sql`(select value from json_each(${JSON.stringify(ids.filter((id) => id !== null))}))`;
  const [issueRows, commentRows] = await db.batch([
    selectIssues(db).where(inArray(issues.id, listOf(references.map(({ issueId }) => issueId)))),
    selectComments(db).where(
      inArray(timelineEntries.id, listOf(references.map(({ commentId }) => commentId))),
    ),
  ]);
  const issuesById = new Map(issueRows.map((row) => [row.issue.id, row]));
  const commentsById = new Map(commentRows.map((row) => [row.comment.id, row]));
  return references.flatMap(({ entryId, repoId, issueId, commentId }) => {
    const repo = repos.get(repoId);
    const issue = issuesById.get(issueId);
    const comment = commentId === null ? undefined : commentsById.get(commentId);
    if (!repo || issue?.issue.repoId !== repoId) return [];
    if (commentId !== null && comment?.comment.issueId !== issueId) return [];
    const subject: FarSubject = {
      issue: toIssueContext(repo, issue),
      comment: comment && toCommentContext(repo, comment),
    };
    return [[entryId, subject] as const];
  });
}
