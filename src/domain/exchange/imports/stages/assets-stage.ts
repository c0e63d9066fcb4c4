import { and, eq, inArray, sql } from "drizzle-orm";

import { batch } from "../../../../db/batch.ts";
import { insertSelect } from "../../../../db/insert-select.ts";
import { attachments, foreignItems, releases } from "../../../../db/schema/index.ts";
import type { ForeignAsset, ForeignRelease } from "../../../../forges/forge.ts";
import { Failure, invalid } from "../../../../lib/failure.ts";
import {
  dropNote,
  type ReceivedFile,
  receiveFile,
} from "../../../issues/attachments/receive-file.ts";
import { isNoted } from "../../../issues/uploads/is-noted.ts";
import { ASSETS_MAX } from "../../../packages/releases/assets.ts";
import { RemoteFailure } from "../../../../outgoing/remote-failure.ts";
import type { ImportJob } from "../import-job.ts";
import { openDownload } from "../open-download.ts";
import { freshItem, freshItems, reserveIds, settleItems } from "../write/page.ts";

const MIB = 1024 * 1024;

/**
 * Attempts after which a file that does not come is left out: it may be on another host, which is
 * gone for good.
 */
const ATTEMPTS_MAX = 3;

/** Takes the files of the next page of releases, each in a step of its own. */
export async function importAssets(job: ImportJob): Promise<void> {
  const { reader } = job.source;
  const { config } = job.ctx;
  if (!reader || !job.includes("releases") || !config.areAttachmentsOn) {
    await job.commit(job.nextStage());
    return;
  }
  const page = await reader.readPage("releases", job.row.cursor ?? undefined, {
    includesIssues: false,
    includesPulls: false,
  });
  const missing = await listMissing(job, page.items);
  for (const { asset, releaseId } of missing) {
    // The next message continues with the files of this page that are missing then.
    if (job.isTimeUp) return;
    await takeAsset(job, asset, releaseId);
  }
  await job.commit(page.next === undefined ? job.nextStage() : { cursor: page.next });
}

interface MissingAsset {
  readonly asset: ForeignAsset;
  readonly releaseId: number;
}

/** The files of releases that came from there which were not taken before. */
async function listMissing(
  { ctx: { db }, repoId }: ImportJob,
  items: readonly ForeignRelease[],
): Promise<MissingAsset[]> {
  const among = (kind: "release" | "asset", some: readonly { foreignId: string }[]) => {
    const ids = JSON.stringify(some.map(({ foreignId }) => foreignId));
    return db
      .select({ foreignId: foreignItems.foreignId, localId: foreignItems.localId })
      .from(foreignItems)
      .where(
        and(
          eq(foreignItems.repoId, repoId),
          eq(foreignItems.kind, kind),
          inArray(foreignItems.foreignId, sql`(select value from json_each(${ids}))`),
        ),
      );
  };
  const assets = items.flatMap(({ assets: all }) => all.slice(0, ASSETS_MAX));
  if (assets.length === 0) return [];
  const known = await batch(db, {
    releases: among("release", items),
    assets: among("asset", assets),
  });
  const releaseIds = new Map(known.releases.map((each) => [each.foreignId, each.localId]));
  const taken = new Set(known.assets.map(({ foreignId }) => foreignId));
  return items.flatMap((item) => {
    const releaseId = releaseIds.get(item.foreignId);
    if (releaseId === undefined) return [];
    return (
      item.assets
        .slice(0, ASSETS_MAX)
        // A page may repeat one.
        .filter(({ foreignId }) => taken.size < taken.add(foreignId).size)
        .map((asset) => ({ asset, releaseId }))
    );
  });
}

/** Takes one file. One that can't be taken is noted: it must not keep the others from coming. */
async function takeAsset(job: ImportJob, asset: ForeignAsset, releaseId: number): Promise<void> {
  const { ctx } = job;
  const bytesMax = ctx.config.attachmentMaxMib * MIB;
  try {
    if ((asset.sizeBytes ?? 0) > bytesMax) {
      throw new RemoteFailure("too_large", `it is larger than ${ctx.config.attachmentMaxMib} MiB`);
    }
    const pieces = await openAsset(job, asset.url, bytesMax);
    const rules = {
      types: ctx.config.releaseTypes,
      typeFailure: () => invalid("its type is not allowed"),
    };
    const file = { name: asset.name, pieces };
    await receiveFile(ctx, undefined, file, rules, (received) =>
      insertAsset(job, asset, releaseId, received),
    );
  } catch (error) {
    if (!isFinal(job, error)) throw error;
    job.note(`the file ${asset.name} was left out: ${error.message}`);
  }
}

/** Opens a file of a release. @throws RemoteFailure */
async function openAsset(
  { ctx, source }: ImportJob,
  url: string,
  bytesMax: number,
): Promise<AsyncGenerator<Uint8Array, void>> {
  if (!source.openFile) {
    const headers = source.reader?.headersFor(url) ?? {};
    return (await openDownload(ctx, url, headers, bytesMax)).pieces;
  }
  const pieces = source.openFile(url);
  if (!pieces) throw new RemoteFailure("not_found", "the export does not have it");
  return pieces;
}

/** Whether a file is left out for a failure. Limits of rates are always waited for. */
function isFinal({ row }: ImportJob, error: unknown): error is Failure | RemoteFailure {
  if (error instanceof Failure) return true;
  if (!(error instanceof RemoteFailure)) return false;
  const isLastAttempt = error.kind !== "rate_limited" && row.failureCount + 1 >= ATTEMPTS_MAX;
  return !error.mayPass || isLastAttempt;
}

async function insertAsset(
  job: ImportJob,
  asset: ForeignAsset,
  releaseId: number,
  file: ReceivedFile,
) {
  const { ctx, repoId } = job;
  const { db } = ctx;
  const rows = [{ foreignId: asset.foreignId, revision: "" }];
  const isPossible = sql`${isNoted(file.uuid)} and exists (
    select 1 from ${releases} where ${eq(releases.id, releaseId)} and ${eq(releases.repoId, repoId)}
  )`;
  const { stored } = await job.commit(
    { progress: job.counted(1) },
    {
      reserved: reserveIds(job, "asset", attachments, rows, { isTaken: isPossible }),
      stored: insertSelect(
        db,
        attachments,
        {
          ...file,
          id: freshItem.localId,
          repoId,
          releaseId,
          uploaderId: null,
          downloadCount: asset.downloadCount,
          createdAt: asset.createdAt,
        },
        freshItems(job, "asset", rows),
      ).returning(),
      note: dropNote(ctx, file.uuid),
      settled: settleItems(job, "asset", rows),
    },
  );
  return stored[0];
}
