import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { OWNER_PERMISSION, releases } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { openReceiver } from "../../../events/webhooks/payloads/open-receiver.ts";
import { toReleasePayload } from "../../../events/webhooks/payloads/release-payload.ts";
import { notFound } from "../../../lib/failure.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findRef, openSnapshot } from "../../code/git/open-snapshot.ts";
import { requireWritable } from "../../code/git/require-writable.ts";
import { deleteTagRef } from "../../code/tags/delete-tag.ts";
import { tagRef } from "../../code/tags/list-tags.ts";
import { requireReleaseWriting } from "./require-release-access.ts";

/**
 * Deletes a release with its files; the tag stays. A trigger notes the files' bytes, which a job
 * removes.
 *
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function deleteRelease(ctx: Ctx, release: ReleaseContext): Promise<void> {
  requireReleaseWriting(release.repo);
  const { db } = ctx;
  const { row, owner } = release.repo;
  const { id: releaseId, tagName, isDraft } = release.row;
  // The event is about a published release, so a release that was published or withdrawn meanwhile
  // is not deleted.
  const remove = db
    .delete(releases)
    .where(
      and(eq(releases.id, releaseId), eq(releases.repoId, row.id), eq(releases.isDraft, isDraft)),
    )
    .returning({ id: releases.id });
  // SECURITY: the stored payload is built with the owner's permission, as for every hook.
  const repo: RepositoryContext = { row, owner, permission: OWNER_PERMISSION };
  const context = { repo, sender: ctx.actor.user, viewer: openReceiver(ctx) };
  const event = {
    type: "release.deleted",
    repoId: row.id,
    ownerId: row.ownerId,
    releaseId,
    tagName,
    lastPayload: toReleasePayload(context, "deleted", release),
  } as const;
  const { deleted } = await batch(db, {
    deleted: remove,
    event: isDraft ? undefined : recordIfChanged(ctx, event),
  });
  if (deleted.length === 0) throw notFound();
}

/**
 * Deletes a release and its tag: the tag first, so that a rule that keeps the tag keeps the
 * release.
 *
 * A Worker that dies in between leaves a draft, as a push that deletes the tag does.
 *
 * @throws Failure as `deleteRelease` and `deleteTagRef`, with nothing deleted.
 */
export async function deleteReleaseWithTag(ctx: Ctx, release: ReleaseContext): Promise<void> {
  const { repo, row } = release;
  requireReleaseWriting(repo);
  requireWritable(repo);
  const snapshot = await openSnapshot(ctx, repo);
  if (findRef(snapshot, tagRef(row.tagName))) await deleteTagRef(ctx, repo, snapshot, row.tagName);
  await deleteRelease(ctx, release);
}
