import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { packageLooseFiles, packageUploads } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import type { BlobUpload } from "./find-upload.ts";

/** Ends an upload without a blob. What it has written is deleted by a job. */
export async function discardUpload(ctx: Ctx, upload: BlobUpload): Promise<void> {
  await ctx.db.batch(endUpload(ctx, upload));
  const abort = ctx.git.packageFiles.discard(upload.uuid, upload.state);
  // The bucket itself discards parts after a week.
  ctx.defer(abort.catch(() => log("image:parts-not-discarded", {})));
}

/** The statements that end an upload: the notes of files that no blob refers to fall due. */
export function endUpload({ db, now }: Ctx, { uuid, state }: BlobUpload) {
  const files = JSON.stringify([uuid, state.nextUuid, state.rest?.uuid ?? ""]);
  return [
    db.delete(packageUploads).where(eq(packageUploads.uuid, uuid)),
    db
      .update(packageLooseFiles)
      .set({ expiresAt: now })
      .where(sql`${packageLooseFiles.uuid} in (select value from json_each(${files}))`),
  ] as const;
}
