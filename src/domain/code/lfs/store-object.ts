import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { flagColumn } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  lfsLooseFiles,
  lfsObjects,
  type Repository,
  repositories,
  users,
} from "../../../db/schema/index.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import { mayStore, quotaExceeded, requireRoom } from "../../people/quotas/owner-quota.ts";
import type { LargeFile } from "../../../storage/repository-records.ts";

/** Maximum duration of an upload, in milliseconds. */
export const LFS_UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

/** An LFS object as declared by a client. */
export interface DeclaredObject {
  /** 64 lower-case hex digits. */
  readonly oid: string;
  readonly sizeBytes: number;
}

/**
 * Stores an LFS object in a repository. It becomes readable only after its size and hash are
 * verified, whether or not another repository has the same object.
 *
 * A row in `lfs_loose_files` is inserted before the first byte is written, and deleted in the batch
 * that adds the object to the repository. If a Worker dies in between, a job deletes the file.
 *
 * @returns False if the repository has the object already; the body is not read then.
 * @throws Failure `invalid` if size or hash differ from the declared ones, `too_large` beyond what
 * the owner may store, `not_found` if the repository was deleted in the meantime, or if the upload
 * took more than a day.
 */
export async function storeObject(
  ctx: Ctx,
  repo: Repository,
  { oid, sizeBytes }: DeclaredObject,
  body: ReadableStream<Uint8Array>,
): Promise<boolean> {
  const { db, git, now } = ctx;
  const { networkName } = repo;
  const uploadId = crypto.randomUUID();
  const file: LargeFile = { networkName, oid, uploadId };
  const isSameObject = and(eq(lfsObjects.repoId, repo.id), eq(lfsObjects.oid, oid));
  const mayBeStored = mayStore(ctx, sql`${repo.ownerId}`, sizeBytes);
  const [present, [room]] = await db.batch([
    db.select().from(lfsObjects).where(isSameObject),
    db.select({ isEnough: flagColumn(mayBeStored, "is_enough") }).from(sql`(select 1)`),
    insertSelect(
      db,
      lfsLooseFiles,
      { uploadId, oid, networkName, expiresAt: now + LFS_UPLOAD_LIFE_MS },
      sql`
        where ${mayBeStored}
          and not exists (select 1 from ${lfsObjects} where ${isSameObject})`,
    ),
  ]);
  if (present.length > 0) return false;
  if (room?.isEnough === false) throw quotaExceeded();

  const isValid = await git.largeFiles.receive(file, sizeBytes, body).catch((error: unknown) => {
    dropLater(ctx, file);
    throw error;
  });
  if (!isValid) {
    dropLater(ctx, file);
    throw invalid(`the content is not of ${sizeBytes} bytes with the SHA-256 ${oid}`);
  }
  // If this throws, it is unknown whether the repository has the object now, so the file is kept.
  const storedUploadId = await addToRepository(ctx, repo, file, sizeBytes);
  if (storedUploadId !== uploadId) dropLater(ctx, file);
  if (storedUploadId === undefined) {
    const [owner] = await db.select().from(users).where(eq(users.id, repo.ownerId));
    if (owner) await requireRoom(ctx, owner, sizeBytes);
    throw notFound("Repository not found");
  }
  return true;
}

/**
 * Adds an uploaded file to the repository and deletes its `lfs_loose_files` row, in one batch.
 *
 * @returns The id of the upload that provides the repository's object: a concurrent one if it was
 * first; undefined if the repository was deleted or the upload expired.
 */
async function addToRepository(
  ctx: Ctx,
  repo: Repository,
  { oid, uploadId }: LargeFile,
  sizeBytes: number,
): Promise<string | undefined> {
  const { db, now } = ctx;
  const isUpload = eq(lfsLooseFiles.uploadId, uploadId);
  // Checked against the database's clock when the statement runs.
  const isLoose = sql`exists (
    select 1
    from ${lfsLooseFiles}
    where ${isUpload} and ${lfsLooseFiles.expiresAt} > unixepoch() * 1000
  )`;
  const { present } = await batch(db, {
    inserted: insertSelect(
      db,
      lfsObjects,
      { repoId: repositories.id, oid, sizeBytes, uploadId, createdAt: now },
      sql`
        from ${repositories}
        where ${repositories.id} = ${repo.id}
          and ${isLoose}
          and ${mayStore(ctx, sql`${repositories.ownerId}`, sizeBytes)}`,
    ).onConflictDoNothing(),
    size: db
      .update(repositories)
      .set({ lfsSizeBytes: sql`${repositories.lfsSizeBytes} + ${sizeBytes}` })
      .where(and(eq(repositories.id, repo.id), sql`changes() > 0`)),
    looseFile: db
      .delete(lfsLooseFiles)
      .where(
        and(
          isUpload,
          sql`exists (select 1 from ${lfsObjects} where ${lfsObjects.uploadId} = ${uploadId})`,
        ),
      ),
    present: db
      .select()
      .from(lfsObjects)
      .where(and(eq(lfsObjects.repoId, repo.id), eq(lfsObjects.oid, oid))),
  });
  return present[0]?.uploadId;
}

/**
 * Deletes a file that was not added to a repository, and its `lfs_loose_files` row. On failure, a
 * job deletes them.
 *
 * SECURITY: call this only if the file certainly was not added, or the repository loses the object.
 */
function dropLater(ctx: Ctx, file: LargeFile): void {
  const drop = async (): Promise<void> => {
    await ctx.git.largeFiles.delete([file]);
    await ctx.db.delete(lfsLooseFiles).where(eq(lfsLooseFiles.uploadId, file.uploadId));
  };
  ctx.defer(drop().catch(() => log("lfs:not-dropped", { uploadId: file.uploadId })));
}
