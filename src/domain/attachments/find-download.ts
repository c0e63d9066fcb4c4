import { and, eq, sql } from "drizzle-orm";

import type { CallerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf, type Database } from "../../db/db.ts";
import { attachments, issues, repositories, type Attachment } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible } from "../issues/find-issue.ts";
import { selectRepositories } from "../repos/find-repository.ts";

/** Selects the repository of an attachment. */
export const selectAttachmentRepository = (db: Database, caller: CallerSql, uuid: string) =>
  selectRepositories(db, caller).where(
    eq(
      repositories.id,
      sql`(
        select ${attachments.repoId}
        from ${attachments}
        where ${attachments.uuid} = ${uuid}
      )`,
    ),
  );

/**
 * Finds an attachment by its uuid in its repository.
 *
 * SECURITY: who knows the uuid still needs read access to the issue now.
 *
 * @throws Failure `not_found`.
 */
export async function findDownload(
  { db }: Ctx,
  repo: RepositoryContext,
  uuid: string,
): Promise<Attachment> {
  const [found] = await db
    .select({
      attachment: columnsOf(attachments, "a"),
      isPull: sql`${issues.isPull}`.mapWith(issues.isPull).as("i_isPull"),
    })
    .from(attachments)
    .innerJoin(issues, eq(issues.id, attachments.issueId))
    .where(and(eq(attachments.uuid, uuid), eq(attachments.repoId, repo.row.id)));
  if (!found || !isIssueVisible(repo, found)) throw notFound();
  return found.attachment;
}

/** Counts a download. */
export async function countDownload({ db }: Ctx, { id }: Attachment): Promise<void> {
  await db
    .update(attachments)
    .set({ downloadCount: sql`${attachments.downloadCount} + 1` })
    .where(eq(attachments.id, id));
}
