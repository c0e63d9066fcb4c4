import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { lfsLooseFiles, lfsObjects, type Repository, repositories } from "../../db/schema/index.ts";
import { invalid, notFound } from "../../lib/failure.ts";
import { log } from "../../lib/log.ts";
import type { LargeFile } from "../../storage/repository-records.ts";

/** How long an upload may take, in milliseconds. */
export const LFS_UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

/** A large file as a client announces it. */
export interface DeclaredObject {
  /** 64 lower-case hex digits. */
  readonly oid: string;
  readonly sizeBytes: number;
}

/**
 * Takes the bytes of a large file into a repository. They are there for nobody before they were
 * counted and hashed, and it makes no difference who else has them.
 *
 * The file is noted before its first byte is written, and the note goes in the batch that makes it
 * the repository's: a Worker that dies between two steps leaves a file that a job removes.
 *
 * @returns False if the repository has the file already; the body is then not read.
 * @throws Failure `invalid` if the bytes are not those that were announced, `not_found` if the
 * repository was deleted meanwhile, or a day went by.
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
  const isThis = and(eq(lfsObjects.repoId, repo.id), eq(lfsObjects.oid, oid));
  const [present] = await db.batch([
    db.select().from(lfsObjects).where(isThis),
    insertSelect(
      db,
      lfsLooseFiles,
      { uploadId, oid, networkName, expiresAt: now + LFS_UPLOAD_LIFE_MS },
      sql`where not exists (select 1 from ${lfsObjects} where ${isThis})`,
    ),
  ]);
  if (present.length > 0) return false;

  const isRight = await git.largeFiles.receive(file, sizeBytes, body).catch((error: unknown) => {
    dropLater(ctx, file);
    throw error;
  });
  if (!isRight) {
    dropLater(ctx, file);
    throw invalid(`the content is not of ${sizeBytes} bytes with the SHA-256 ${oid}`);
  }
  // If this fails, nobody knows whether the file is the repository's now: it stays.
  const claimedId = await claimFile(ctx, repo, file, sizeBytes);
  if (claimedId !== uploadId) dropLater(ctx, file);
  if (claimedId === undefined) throw notFound("Repository not found");
  return true;
}

/**
 * Makes a file the repository's, in one batch with the end of its note.
 *
 * @returns The upload that the repository has the file of: another one if that came first, none if
 * the repository is gone or the upload took too long.
 */
async function claimFile(
  { db, now }: Ctx,
  repo: Repository,
  { oid, uploadId }: LargeFile,
  sizeBytes: number,
): Promise<string | undefined> {
  const isUpload = eq(lfsLooseFiles.uploadId, uploadId);
  // By the database's own clock, as of the moment of writing.
  const isNoted = sql`exists (
    select 1
    from ${lfsLooseFiles}
    where ${isUpload} and ${lfsLooseFiles.expiresAt} > unixepoch() * 1000
  )`;
  const [, , , [present]] = await db.batch([
    insertSelect(
      db,
      lfsObjects,
      { repoId: repositories.id, oid, sizeBytes, uploadId, createdAt: now },
      sql`from ${repositories} where ${repositories.id} = ${repo.id} and ${isNoted}`,
    ).onConflictDoNothing(),
    db
      .update(repositories)
      .set({ lfsSizeBytes: sql`${repositories.lfsSizeBytes} + ${sizeBytes}` })
      .where(and(eq(repositories.id, repo.id), sql`changes() > 0`)),
    db
      .delete(lfsLooseFiles)
      .where(
        and(
          isUpload,
          sql`exists (select 1 from ${lfsObjects} where ${lfsObjects.uploadId} = ${uploadId})`,
        ),
      ),
    db
      .select()
      .from(lfsObjects)
      .where(and(eq(lfsObjects.repoId, repo.id), eq(lfsObjects.oid, oid))),
  ]);
  return present?.uploadId;
}

/**
 * Removes a file that did not become a repository's, and its note; if that fails, a job does.
 *
 * SECURITY: only for one of which it is certain that it did not.
 */
function dropLater(ctx: Ctx, file: LargeFile): void {
  const drop = async (): Promise<void> => {
    await ctx.git.largeFiles.delete([file]);
    await ctx.db.delete(lfsLooseFiles).where(eq(lfsLooseFiles.uploadId, file.uploadId));
  };
  ctx.defer(drop().catch(() => log("lfs:not-dropped", { uploadId: file.uploadId })));
}
