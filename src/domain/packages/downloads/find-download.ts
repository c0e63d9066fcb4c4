import { and, asc, eq, isNull, or, sql } from "drizzle-orm";

import { type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  attachments,
  issues,
  releases,
  repositories,
  timelineEntries,
  type Attachment,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isSubmittedOrBy } from "../../issues/comments/written-entries.ts";
import { isIssueVisible } from "../../issues/issue/find-issue.ts";
import {
  isReleaseNamed,
  isReleaseVisible,
  latestFirst,
  type ReleaseQuery,
  toReleaseQuery,
} from "../releases/find-release.ts";
import { selectRepositories } from "../../repos/repository/find-repository.ts";

/** Selects the repository of an attachment. */
export const selectAttachmentRepository = prepare(
  (db, { caller, uuid }: Params<{ caller: CallerArgument; uuid: string }>) =>
    selectRepositories(db, toCallerSql(caller)).where(
      eq(
        repositories.id,
        sql`(
          select ${attachments.repoId}
          from ${attachments}
          where ${attachments.uuid} = ${uuid}
        )`,
      ),
    ),
);

/** A file to download, and the scope that a token needs for it. */
export interface AttachmentDownload {
  readonly attachment: Attachment;
  readonly scope: "read:issue" | "read:repository";
}

/**
 * Finds an attachment by its uuid in its repository.
 *
 * SECURITY: who knows the uuid still needs read access to the issue or release now, and to write
 * releases for a draft. Files of pending reviews, and those that no text has claimed yet, are their
 * author's alone.
 *
 * @throws Failure `not_found`.
 */
export async function findDownload(
  { db, actor }: Ctx,
  repo: RepositoryContext,
  uuid: string,
): Promise<AttachmentDownload> {
  const [found] = await attachmentOf(db, { repoId: repo.row.id, uuid, userId: actor.user?.id });
  // The joins return null for what the file does not belong to.
  const { attachment, isPull = null, isDraft = null } = found ?? {};
  if (attachment && isDraft !== null && isReleaseVisible(repo, { isDraft })) {
    return { attachment, scope: "read:repository" };
  }
  if (attachment && isPull !== null && isIssueVisible(repo, { isPull })) {
    return { attachment, scope: "read:issue" };
  }
  const isOwn = attachment !== undefined && attachment.uploaderId === (actor.user?.id ?? 0);
  if (isOwn && isPull === null && isDraft === null) return { attachment, scope: "read:issue" };
  throw notFound();
}

interface AttachmentQuery {
  readonly repoId: number;
  readonly uuid: string;
  readonly userId: number | undefined;
}

const attachmentOf = prepare((db, { repoId, uuid, userId }: Params<AttachmentQuery>) => {
  const comment = sql`
    select 1
    from ${timelineEntries}
    where ${timelineEntries.id} = ${attachments.entryId} and ${isSubmittedOrBy(userId)}`;
  return db
    .select({
      attachment: columnsOf(attachments, "a"),
      isPull: sql<boolean | null>`${issues.isPull}`.mapWith(issues.isPull).as("i_isPull"),
      isDraft: sql<boolean | null>`${releases.isDraft}`.mapWith(releases.isDraft).as("r_isDraft"),
    })
    .from(attachments)
    .leftJoin(issues, eq(issues.id, attachments.issueId))
    .leftJoin(releases, eq(releases.id, attachments.releaseId))
    .where(
      and(
        eq(attachments.uuid, uuid),
        eq(attachments.repoId, repoId),
        or(isNull(attachments.entryId), sql`exists (${comment})`),
      ),
    );
});

/**
 * Finds a file of a release by its name: the first one of those that have it. The tag `latest` also
 * names the latest release, unless a release has that tag.
 *
 * @throws Failure `not_found` also where the caller may not see the release.
 */
export async function findReleaseDownload(
  { db }: Ctx,
  repo: RepositoryContext,
  tag: string,
  name: string,
): Promise<Attachment> {
  const { tagged, latest } = await batch(db, {
    tagged: releaseFile(db, { release: toReleaseQuery(repo, { tag }), name }),
    latest: releaseFile(db, { release: toReleaseQuery(repo, "latest"), name }),
  });
  const found = tagged[0] ?? (tag === LATEST ? latest[0] : undefined);
  if (!found?.attachment?.uuid || !isReleaseVisible(repo, found)) throw notFound();
  return found.attachment;
}

const LATEST = "latest";

/** Selects the first release of a query with its first file of a name, if it has one. */
const releaseFile = prepare((db, p: Params<{ release: ReleaseQuery; name: string }>) => {
  const release = db
    .select({ id: releases.id, isDraft: releases.isDraft })
    .from(releases)
    .where(isReleaseNamed(p.release))
    .orderBy(...latestFirst)
    .limit(1)
    .as("release");
  return db
    .select({
      isDraft: sql<boolean>`${release.isDraft}`.mapWith(releases.isDraft).as("r_isDraft"),
      attachment: columnsOf(attachments, "a"),
    })
    .from(release)
    .leftJoin(attachments, and(eq(attachments.releaseId, release.id), eq(attachments.name, p.name)))
    .orderBy(asc(attachments.id))
    .limit(1);
});

/** Counts a download. */
export async function countDownload({ db }: Ctx, { id }: Attachment): Promise<void> {
  await countOne(db, { id });
}

const countOne = prepare((db, { id }: Params<{ id: number }>) =>
  db
    .update(attachments)
    .set({ downloadCount: sql`${attachments.downloadCount} + 1` })
    .where(eq(attachments.id, id)),
);
