import { asc, count, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { contentVersions, issues, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { VersionContext } from "../../../shapes/issues/content-version.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible } from "../issue/find-issue.ts";
import { isVersionOf } from "../issue/insert-version.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { type IssueOrComment, issueOf, toCommentKey } from "./find-comment.ts";

/**
 * Lists a page of the versions of the body of an issue or pull request, the original first; none if
 * it was never edited.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export const listIssueVersions = (
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<VersionContext>> =>
  listVersions(ctx, repo, { repoId: repo.row.id, number }, slice);

/** Lists a page of the versions of a comment, as `listIssueVersions` does. */
export const listCommentVersions = (
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
  slice: Slice,
): Promise<Listed<VersionContext>> =>
  listVersions(ctx, repo, { comment: toCommentKey(ctx, repo, id) }, slice);

async function listVersions(
  { db }: Ctx,
  repo: RepositoryContext,
  text: IssueOrComment,
  { size, offset }: Slice,
): Promise<Listed<VersionContext>> {
  const {
    issues: [issue],
    ...page
  } = await batch(db, versionsOf(db, { text, size, offset }));
  if (!issue || !isIssueVisible(repo, issue)) throw notFound();
  return toListedPage(page, ({ row, editor }) => ({
    row,
    editor: row.editorId === null ? undefined : (editor ?? undefined),
  }));
}

const versionsOf = prepareAll(
  (db, { text, size, offset }: Params<Slice & { text: IssueOrComment }>) => {
    const { isOfIssue, issueId } = issueOf(text);
    const isListed = isVersionOf({ issueId, entryId: "comment" in text ? text.comment.id : null });
    return {
      issues: db.select({ isPull: issues.isPull }).from(issues).where(isOfIssue),
      counted: db
        .select({ total: count().as("total") })
        .from(contentVersions)
        .where(isListed),
      rows: db
        .select({ row: columnsOf(contentVersions, "v"), editor: columnsOf(users, "e") })
        .from(contentVersions)
        .leftJoin(users, eq(users.id, contentVersions.editorId))
        .where(isListed)
        .orderBy(asc(contentVersions.id))
        .limit(size)
        .offset(offset),
    };
  },
);
