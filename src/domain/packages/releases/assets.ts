import { and, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { attachments, releases, type Attachment } from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import { invalid, malformed, notFound } from "../../../lib/failure.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import { toAttachmentName } from "../../issues/attachments/attachment-name.ts";
import { requireAttachmentsOn } from "../../issues/attachments/attachment-subject.ts";
import type { FormFile } from "../../issues/attachments/form-file.ts";
import { dropNote, type ReceivedFile, receiveFile } from "../../issues/attachments/receive-file.ts";
import { isNoted } from "../../issues/uploads/is-noted.ts";
import { isRenamingAllowed } from "../../issues/attachments/renaming.ts";
import { requireReleaseWriting } from "./require-release-access.ts";

/** Files of one release: a list shows all files of each release of its page. */
export const ASSETS_MAX = 300;

/**
 * Asserts that the caller may change the files of a release.
 *
 * @throws Failure as `requireReleaseWriting`; `not_found` where attachments are switched off.
 */
export function requireAssetWriting(ctx: Ctx, { repo }: ReleaseContext): void {
  requireAttachmentsOn(ctx);
  requireReleaseWriting(repo);
}

/** Finds a file of a release. @throws Failure `not_found`. */
export function findAsset({ assets }: ReleaseContext, id: number): Attachment {
  const asset = assets.find((each) => each.id === id);
  if (!asset) throw notFound();
  return asset;
}

/**
 * Adds a file to a release, by streaming it. Files of one release may have the same name, as in
 * Gitea.
 *
 * @throws Failure as `requireAssetWriting`; `malformed` for a forbidden type; `invalid` beyond the
 * number of files; `too_large`; `not_found` if the release was deleted meanwhile.
 */
export async function storeAsset(
  ctx: Ctx,
  release: ReleaseContext,
  file: FormFile,
): Promise<Attachment> {
  requireAssetWriting(ctx, release);
  const rules = { types: ctx.config.releaseTypes, typeFailure: assetTypeFailure };
  const stored = await receiveFile(ctx, release.repo.owner, file, rules, (received) =>
    insertAsset(ctx, release, received),
  );
  if (stored) return stored;
  throw invalid(`the release has ${ASSETS_MAX} files already, or was deleted`);
}

async function insertAsset(
  ctx: Ctx,
  release: ReleaseContext,
  file: ReceivedFile,
): Promise<Attachment | undefined> {
  const { db, now, actor } = ctx;
  const row = {
    ...file,
    repoId: sql`${releases.repoId}`,
    releaseId: sql`${releases.id}`,
    uploaderId: actor.user?.id ?? null,
    createdAt: now,
  };
  const isPossible = and(
    isRelease(release),
    isNoted(file.uuid),
    sql`(
      select ${count()}
      from ${attachments}
      where ${attachments.releaseId} = ${release.row.id}
    ) < ${ASSETS_MAX}`,
  );
  const { stored } = await batch(db, {
    asset: insertSelect(db, attachments, row, sql`from ${releases} where ${isPossible}`),
    event: recordAssets(ctx, release),
    note: dropNote(ctx, file.uuid),
    stored: db.select().from(attachments).where(eq(attachments.uuid, file.uuid)),
  });
  return stored[0];
}

/**
 * Renames a file. An empty name, and the one that it has, change nothing.
 *
 * @throws Failure as `requireAssetWriting`; `malformed` for a forbidden type.
 */
export async function renameAsset(
  ctx: Ctx,
  release: ReleaseContext,
  asset: Attachment,
  requestedName: string,
): Promise<Attachment> {
  requireAssetWriting(ctx, release);
  const name = await toNewName(ctx, asset, requestedName);
  if (name === asset.name) return asset;
  const { db } = ctx;
  const [[renamed]] = await db.batch([
    db.update(attachments).set({ name }).where(isAsset(release, asset)).returning(),
    recordAssets(ctx, release),
  ]);
  if (!renamed) throw notFound();
  return renamed;
}

/** The name that a file gets by a requested one; the one that it has, for an empty one. */
async function toNewName(ctx: Ctx, asset: Attachment, requestedName: string): Promise<string> {
  if (requestedName === "") return asset.name;
  const name = toAttachmentName(requestedName);
  if (name === asset.name) return name;
  // SECURITY: checked as the name of a new file, since it decides how the file is served.
  if (!(await isRenamingAllowed(ctx, asset, name, ctx.config.releaseTypes))) {
    throw assetTypeFailure();
  }
  return name;
}

/** The changes of a release's files, by their ids. */
export interface AssetChanges {
  /** New names. */
  readonly renamed: ReadonlyMap<number, string>;
  readonly deleted: ReadonlySet<number>;
}

/**
 * Renames and deletes files of a release, all or none. Names are changed as by `renameAsset`; a
 * file that is gone is passed over.
 *
 * Cost: one round trip of the database; a read of each renamed file where types are restricted.
 *
 * @throws Failure as `renameAsset`.
 */
export async function changeAssets(
  ctx: Ctx,
  release: ReleaseContext,
  { renamed, deleted }: AssetChanges,
): Promise<void> {
  requireAssetWriting(ctx, release);
  const names: Record<number, string> = {};
  for (const asset of release.assets) {
    const requestedName = renamed.get(asset.id);
    if (requestedName === undefined || deleted.has(asset.id)) continue;
    const name = await toNewName(ctx, asset, requestedName);
    if (name !== asset.name) names[asset.id] = name;
  }
  const { db } = ctx;
  const newName = sql`${JSON.stringify(names)} ->> cast(${attachments.id} as text)`;
  await batch(db, {
    renamed: db
      .update(attachments)
      .set({ name: newName })
      .where(isAmong(release, Object.keys(names).map(Number))),
    renameEvent: recordAssets(ctx, release),
    deleted: db.delete(attachments).where(isAmong(release, [...deleted])),
    deleteEvent: recordAssets(ctx, release),
  });
}

/**
 * Deletes a file. A trigger notes its bytes, which a job removes.
 *
 * @throws Failure as `requireAssetWriting`; `not_found` if another request has deleted it.
 */
export async function deleteAsset(
  ctx: Ctx,
  release: ReleaseContext,
  asset: Attachment,
): Promise<void> {
  requireAssetWriting(ctx, release);
  const { db } = ctx;
  const [[deleted]] = await db.batch([
    db.delete(attachments).where(isAsset(release, asset)).returning({ id: attachments.id }),
    recordAssets(ctx, release),
  ]);
  if (!deleted) throw notFound();
}

/** Gitea answers 400 here, and 422 for files of issues. */
const assetTypeFailure = () =>
  malformed("This file cannot be uploaded or modified due to a forbidden file extension or type.");

const isRelease = ({ repo, row }: ReleaseContext): SQL | undefined =>
  and(eq(releases.id, row.id), eq(releases.repoId, repo.row.id));

const isAsset = ({ row }: ReleaseContext, { id }: Attachment): SQL | undefined =>
  and(eq(attachments.id, id), eq(attachments.releaseId, row.id));

const isAmong = ({ row }: ReleaseContext, ids: readonly number[]): SQL | undefined =>
  and(
    eq(attachments.releaseId, row.id),
    sql`${attachments.id} in (select value from json_each(${JSON.stringify(ids)}))`,
  );

/**
 * The statement that records changed files, if the previous one changed a row and the release is
 * published.
 */
const recordAssets = (ctx: Ctx, release: ReleaseContext) =>
  recordEach(
    ctx,
    {
      type: "release.updated",
      repoId: release.repo.row.id,
      ownerId: release.repo.row.ownerId,
      releaseId: release.row.id,
      tagName: release.row.tagName,
      part: "assets",
    },
    sql`from ${releases} where ${isRelease(release)} and not ${releases.isDraft} and changes() > 0`,
  );
