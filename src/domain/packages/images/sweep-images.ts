import { and, asc, eq, inArray, lt, lte, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import {
  packageFiles,
  packages,
  packageUploads,
  packageVersions,
} from "../../../db/schema/index.ts";
import { discardUpload } from "./discard-upload.ts";
import type { BlobUpload } from "./find-upload.ts";

const seen = alias(packageVersions, "seen");

/** How long an image has a content that no manifest names, in milliseconds. */
const HELD_MS = 24 * 60 * 60 * 1000;

/** Uploads that a run ends; the next run continues. */
const UPLOADS_AT_ONCE = 50;
/** Contents, versions and packages that a run deletes. */
const ROWS_AT_ONCE = 1000;

/**
 * Ends uploads that have expired, and takes contents from images that no manifest of theirs has
 * named for a day. A trigger deletes those that no image has any more.
 */
export async function sweepImages(ctx: Ctx): Promise<void> {
  await endExpired(ctx);
  await dropHeld(ctx);
}

async function endExpired(ctx: Ctx): Promise<void> {
  const expired = await ctx.db
    .select()
    .from(packageUploads)
    .where(and(eq(packageUploads.type, "container"), lte(packageUploads.expiresAt, ctx.now)))
    .orderBy(asc(packageUploads.expiresAt))
    .limit(UPLOADS_AT_ONCE);
  for (const upload of expired) await discardUpload(ctx, upload as BlobUpload);
}

async function dropHeld({ db, now }: Ctx): Promise<void> {
  const isHolder = and(
    eq(packageVersions.type, "container"),
    sql`${packageVersions.isInternal} = 1`,
  );
  const held = db
    .select({ id: packageFiles.id })
    .from(packageVersions)
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .where(and(isHolder, lt(packageFiles.createdAt, now - HELD_MS)))
    .limit(ROWS_AT_ONCE);
  const isEmpty = and(
    isHolder,
    lt(packageVersions.createdAt, now - HELD_MS),
    sql`not exists (
      select 1
      from ${packageFiles}
      where ${packageFiles.versionId} = ${packageVersions.id}
    )`,
  );
  const isBare = sql`not exists (
    select 1
    from ${packageVersions} ${seen}
    where ${seen.packageId} = ${packageVersions.packageId} and not ${seen.isInternal}
  )`;
  await db.batch([
    db.delete(packageFiles).where(inArray(packageFiles.id, held)),
    db
      .delete(packages)
      .where(
        inArray(
          packages.id,
          db
            .select({ id: packageVersions.packageId })
            .from(packageVersions)
            .where(and(isEmpty, isBare))
            .limit(ROWS_AT_ONCE),
        ),
      ),
    db
      .delete(packageVersions)
      .where(
        inArray(
          packageVersions.id,
          db
            .select({ id: packageVersions.id })
            .from(packageVersions)
            .where(isEmpty)
            .limit(ROWS_AT_ONCE),
        ),
      ),
  ]);
}
