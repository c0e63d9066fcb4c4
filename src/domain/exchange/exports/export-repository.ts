import { eq, sql } from "drizzle-orm";

import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { attachments, lfsObjects, releases } from "../../../db/schema/index.ts";
import type { ForeignKind } from "../../../forges/forge.ts";
import type { Download } from "../../../lib/download.ts";
import { addBytes, addText, inFiles, streamZip, type Zip } from "../../../lib/stream-zip.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import { openWholeSnapshot } from "../../code/git/open-snapshot.ts";
import { USER_AGENT } from "../../version.ts";
import {
  assetPath,
  EXPORT_MEDIA_TYPE,
  GIT_BUNDLE,
  WIKI_BUNDLE,
  largeFilePath,
  MANIFEST,
  pagePath,
  toManifest,
} from "./export-files.ts";
import { EXPORTED_KINDS } from "./foreign-rows.ts";
import { toWiki } from "../../code/wiki/to-wiki.ts";
import { openAttachedFile } from "./open-attached-file.ts";
import { openGitBundle } from "./open-git-bundle.ts";

/** Files of releases, or large files, that one query lists. */
const FILES_AT_ONCE = 200;
/** Size of the pieces in which large files are read, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Exports a repository: a zip file of a bundle of git with all else as JSON, in the form that
 * imports take of any forge.
 *
 * It is made while it is sent: git as it is at the beginning, the rest page by page, so that it may
 * have what came meanwhile.
 *
 * SECURITY: for administrators of the repository. It has what they see: no pending reviews of
 * others, and no secrets of webhooks, mirrors or keys.
 */
export function exportRepository(ctx: Ctx, repo: RepositoryContext): Download {
  const { row, owner } = repo;
  return {
    name: `${owner.name}-${row.name}.zip`,
    mediaType: EXPORT_MEDIA_TYPE,
    tag: `export-${ctx.now}`,
    isTagWeak: true,
    immutableUrl: undefined,
    open: () => Promise.resolve(streamZip((zip) => writeFiles(ctx, repo, zip))),
  };
}

async function writeFiles(ctx: Ctx, repo: RepositoryContext, zip: Zip): Promise<void> {
  const snapshot = await openWholeSnapshot(ctx, repo, ctx.git.openBudget(Infinity), "all");
  await addText(zip, MANIFEST, JSON.stringify(manifestOf(ctx, repo)));
  const bundle = await openGitBundle(ctx, repo, snapshot);
  if (bundle) await addBytes(zip, GIT_BUNDLE, bundle);
  await addWiki(ctx, repo, zip);
  for (const kind of Object.keys(EXPORTED_KINDS) as ForeignKind[]) {
    await addPages(ctx, repo, zip, kind);
  }
  await addAssets(ctx, repo, zip);
  await addLargeFiles(ctx, repo, zip);
}

async function addWiki(ctx: Ctx, repo: RepositoryContext, zip: Zip): Promise<void> {
  if (repo.row.wikiBranch === "") return;
  const wiki = toWiki(repo);
  const snapshot = await openWholeSnapshot(ctx, wiki, ctx.git.openBudget(Infinity), "all");
  const bundle = await openGitBundle(ctx, wiki, snapshot);
  if (bundle) await addBytes(zip, WIKI_BUNDLE, bundle);
}

function manifestOf(ctx: Ctx, repo: RepositoryContext) {
  const { row } = repo;
  return toManifest({
    exportedAt: new Date(ctx.now).toISOString(),
    source: `${USER_AGENT} at ${ctx.publicUrl}`,
    project: {
      name: row.name,
      description: row.description,
      website: row.website,
      topics: row.topics,
      defaultBranch: row.defaultBranch,
      isPrivate: row.isPrivate,
      isArchived: row.archivedAt !== null,
      htmlUrl: htmlUrlOf(repo, ctx),
      tracksIssues: isUnitOn(row, "issues"),
      takesPulls: isUnitOn(row, "pulls"),
      wikiBranch: row.wikiBranch,
    },
  });
}

async function addPages(
  ctx: Ctx,
  repo: RepositoryContext,
  zip: Zip,
  kind: ForeignKind,
): Promise<void> {
  const readPage = EXPORTED_KINDS[kind];
  let count = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const { items, next }: { items: readonly object[]; next: number | undefined } = await readPage(
      ctx,
      repo,
      after,
    );
    for (const part of inFiles(items)) await addText(zip, pagePath(kind, ++count), part);
    after = next;
  }
  if (count === 0) await addText(zip, pagePath(kind, 1), "[]");
}

async function addAssets(ctx: Ctx, { row }: RepositoryContext, zip: Zip): Promise<void> {
  let after = 0;
  for (;;) {
    const files = await ctx.db
      .select({
        id: attachments.id,
        uuid: attachments.uuid,
        sizeBytes: attachments.sizeBytes,
      })
      .from(attachments)
      .innerJoin(releases, eq(releases.id, attachments.releaseId))
      .where(sql`${releases.repoId} = ${row.id} and ${attachments.id} > ${after}`)
      .orderBy(attachments.id)
      .limit(FILES_AT_ONCE);
    for (const { id, uuid, sizeBytes } of files) {
      after = id;
      const pieces = await openAttachedFile(ctx, uuid, sizeBytes);
      if (pieces) await addBytes(zip, assetPath(id), pieces);
    }
    if (files.length < FILES_AT_ONCE) return;
  }
}

async function addLargeFiles(ctx: Ctx, { row }: RepositoryContext, zip: Zip): Promise<void> {
  let after = "";
  for (;;) {
    const files = await ctx.db
      .select()
      .from(lfsObjects)
      .where(sql`${lfsObjects.repoId} = ${row.id} and ${lfsObjects.oid} > ${after}`)
      .orderBy(lfsObjects.oid)
      .limit(FILES_AT_ONCE);
    for (const { oid, uploadId } of files) {
      after = oid;
      const file = { networkName: row.networkName, oid, uploadId };
      await addBytes(zip, largeFilePath(oid), ctx.git.largeFiles.stream(file, PIECE_BYTES));
    }
    if (files.length < FILES_AT_ONCE) return;
  }
}
