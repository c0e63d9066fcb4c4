import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type User, viewedFiles } from "../../../db/schema/index.ts";
import { isOid } from "../../../git/oid.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";

/** Maximum files of a pull request that a user marks: twice as many as its pages show. */
const FILES_MAX = 6000;
const PATH_CHARS_MAX = 4096;

/** A changed file of a pull request, as a reader has seen it. */
export interface SeenFile {
  readonly path: string;
  /** Its object: that after the change, or of a deleted file the one before it. */
  readonly oid: string;
}

/**
 * Remembers that a user has viewed a changed file of a pull request, or has not. That is the user's
 * own: it announces nothing, and needs no more than to read the pull request.
 *
 * Cost: one statement.
 *
 * @throws Failure `invalid` for what can be no file.
 */
export async function viewFile(
  { db }: Ctx,
  { row }: PullContext,
  user: User,
  { path, oid }: SeenFile,
  isViewed: boolean,
): Promise<void> {
  if (path === "" || path.length > PATH_CHARS_MAX) throw invalidField("path", "must be a file");
  if (!isOid(oid)) throw invalidField("oid", "must be the id of an object");
  const ofUser = and(eq(viewedFiles.issueId, row.id), eq(viewedFiles.userId, user.id));
  if (!isViewed) {
    await db.delete(viewedFiles).where(and(ofUser, eq(viewedFiles.path, path)));
    return;
  }
  await insertSelect(
    db,
    viewedFiles,
    { issueId: row.id, userId: user.id, path, oid },
    sql`where (select count(*) from ${viewedFiles} where ${ofUser}) < ${FILES_MAX}`,
  ).onConflictDoUpdate({
    target: [viewedFiles.issueId, viewedFiles.userId, viewedFiles.path],
    set: { oid },
  });
}
