import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { packageVersions } from "../../db/schema/index.ts";
import { log } from "../../lib/log.ts";

/** Downloads of this isolate that are not written yet, by the id of the version. */
let pending = new Map<number, number>();
/** When this isolate last wrote downloads, in milliseconds. */
let writtenAt = 0;
let isWriting = false;

/**
 * Counts a download of a version. An isolate gathers the downloads of `PACKAGES_DOWNLOAD_COUNT_SECONDS` and writes them by
 * one statement, after a response; those of an isolate that dies meanwhile are lost.
 */
export function countPackageDownload(ctx: Ctx, versionId: number): void {
  pending.set(versionId, (pending.get(versionId) ?? 0) + 1);
  if (isWriting) return;
  isWriting = true;
  const write = async (): Promise<void> => {
    const wait = writtenAt + ctx.config.packages.downloadCountMs - Date.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    isWriting = false;
    writtenAt = Date.now();
    const counts = pending;
    pending = new Map();
    const list = JSON.stringify([...counts]);
    await ctx.db
      .update(packageVersions)
      .set({
        downloadCount: sql`${packageVersions.downloadCount} + given.count`,
      })
      .from(sql`(
      select value ->> 0 as id, value ->> 1 as count
      from json_each(${list})
    ) as given`)
      .where(sql`${packageVersions.id} = given.id`);
  };
  ctx.defer(
    write().catch(() => {
      isWriting = false;
      log("package:downloads-not-counted", {});
    }),
  );
}
