import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packageVersions } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";

/** Downloads of this isolate that are not written yet, by the id of the version. */
let pending = new Map<number, number>();
/** When this isolate last wrote downloads, in milliseconds. */
let writtenAt = 0;
/** Until when a request has promised to write them, in milliseconds; 0 for none. */
let promisedUntil = 0;

/** The parts of a request that counting needs. */
type Counting = Pick<Ctx, "config" | "db" | "defer" | "noteDownload">;

/** How long a request has for the write itself, in milliseconds: the runtime may end it before. */
const WRITE_MS = 5000;
/** Versions that wait while the database fails; further ones are not counted. */
const PENDING_MAX = 10_000;

/**
 * Counts a download of a version, without a write before the response: an isolate gathers the
 * downloads of `PACKAGES_DOWNLOAD_COUNT_SECONDS` and writes them by one statement, after a
 * response. Those that can't be written wait for the next download; those of an isolate that dies
 * meanwhile are lost.
 */
export function countPackageDownload(ctx: Counting, versionId: number): void {
  ctx.noteDownload?.(versionId);
  add(versionId, 1);
  const now = Date.now();
  // A request that was cut off before it wrote does not keep later ones from writing.
  if (now < promisedUntil) return;
  const waitMs = Math.max(0, writtenAt + ctx.config.packages.downloadCountMs - now);
  promisedUntil = now + waitMs + WRITE_MS;
  ctx.defer(writeAfter(ctx, waitMs));
}

function add(versionId: number, count: number): void {
  if (pending.size >= PENDING_MAX && !pending.has(versionId)) return;
  pending.set(versionId, (pending.get(versionId) ?? 0) + count);
}

async function writeAfter(ctx: Counting, waitMs: number): Promise<void> {
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  const counts = pending;
  pending = new Map();
  promisedUntil = 0;
  writtenAt = Date.now();
  const list = JSON.stringify([...counts]);
  try {
    await addDownloads(ctx.db, { list });
  } catch {
    log("package:downloads-not-counted", {});
    for (const [versionId, count] of counts) add(versionId, count);
  }
}

/** @param p.list The ids of versions with their counts, as JSON. */
const addDownloads = prepare((db, { list }: Params<{ list: string }>) =>
  db
    .update(packageVersions)
    .set({ downloadCount: sql`${packageVersions.downloadCount} + given.count` })
    .from(sql`(
      select value ->> 0 as id, value ->> 1 as count
      from json_each(${list})
    ) as given`)
    .where(sql`${packageVersions.id} = given.id`),
);
