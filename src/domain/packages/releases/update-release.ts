import { and, eq, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import { releases, type Release, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { formatHex } from "../../../lib/hex.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import { requireTagName } from "../../code/tags/create-tag.ts";
import { tagTaken } from "./create-release.ts";
import { findRelease, selectReleases, toReleaseContext } from "./find-release.ts";
import { placeTag, timeOf } from "./place-tag.ts";
import { requireReleaseWriting } from "./require-release-access.ts";

/** The fields of a release to change; fields that are undefined stay as they are. */
export interface ReleaseEdit {
  readonly tagName?: string | undefined;
  readonly target?: string | undefined;
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly isDraft?: boolean | undefined;
  readonly isPrerelease?: boolean | undefined;
  /** The message of the tag, where it is created; "" for a lightweight one. */
  readonly tagMessage?: string | undefined;
}

/** Attempts while others change the same release. */
const ATTEMPTS_MAX = 3;

/**
 * Edits a release, and creates its tag where it is published without one. An edit that changes
 * nothing writes nothing.
 *
 * It is written only if draft and tag are as they were when the tag was placed: a release that two
 * requests publish at once is published once.
 *
 * @param seen The version of the release that the caller has seen, if the edit may replace no later
 *   one: see `versionOfRelease`.
 * @throws Failure `conflict` if another release has the new tag, or if the release has changed
 *   since `seen`; as `placeTag`.
 */
export async function updateRelease(
  ctx: Ctx,
  found: ReleaseContext,
  user: User,
  edit: ReleaseEdit,
  seen?: string,
): Promise<ReleaseContext> {
  requireReleaseWriting(found.repo);
  let release = found;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const edited = withEdit(release.row, edit);
    if (isSame(release.row, edited)) return release;
    if (seen !== undefined && (await versionOfRelease(release)) !== seen) {
      throw conflict("Somebody else has changed this release meanwhile.");
    }
    const updated = await tryUpdate(ctx, release, user, edited, edit.tagMessage);
    if (updated) return updated;
    release = await findRelease(ctx, found.repo, { id: found.row.id });
  }
  throw conflict("the release is being changed: repeat the request");
}

/** A digest of the fields of a release that an edit may change. */
export async function versionOfRelease({ row }: ReleaseContext): Promise<string> {
  const fields = new TextEncoder().encode(JSON.stringify(withEdit(row, {})));
  return formatHex(new Uint8Array(await crypto.subtle.digest("SHA-256", fields)));
}

/** @returns Undefined if another request changed what the edit relies on. */
async function tryUpdate(
  ctx: Ctx,
  release: ReleaseContext,
  user: User,
  edited: Edited,
  message = "",
): Promise<ReleaseContext | undefined> {
  const { repo, row } = release;
  const isRenamed = edited.tagName !== row.tagName;
  if (isRenamed) await requireFreeTag(ctx, row, edited.tagName);
  const { db, now } = ctx;
  const isPublishing = row.isDraft && !edited.isDraft;
  const tag =
    isPublishing || (isRenamed && !edited.isDraft)
      ? await placeTag(ctx, repo, user, {
          name: edited.tagName,
          target: edited.target,
          message,
        })
      : undefined;
  const isThis = and(eq(releases.id, row.id), eq(releases.repoId, repo.row.id));
  const isUnchanged = and(
    eq(releases.isDraft, row.isDraft),
    eq(releases.tagName, row.tagName),
    eq(releases.target, row.target),
    eq(releases.title, row.title),
    eq(releases.body, row.body),
  );
  const update = db
    .update(releases)
    .set({
      ...edited,
      lowerTagName: edited.tagName.toLowerCase(),
      ...((edited.isDraft || tag) && { createdAt: timeOf(ctx, tag) }),
      ...(isPublishing && { publishedAt: now }),
    })
    .where(and(isThis, isUnchanged))
    .returning({ id: releases.id });
  const subject = {
    repoId: repo.row.id,
    ownerId: repo.row.ownerId,
    releaseId: row.id,
    tagName: edited.tagName,
  };
  const event = isPublishing
    ? recordIfChanged(ctx, { type: "release.published", ...subject })
    : recordIfChanged(ctx, { type: "release.updated", ...subject, part: "fields" });
  const { updated, found } = await batch(db, {
    updated: update,
    event: row.isDraft && edited.isDraft ? undefined : event,
    found: selectReleases(db).where(isThis),
  }).catch((error: unknown) => {
    if (isViolation(error, "UNIQUE", "releases.")) throw tagTaken();
    throw error;
  });
  const [stored] = found;
  if (!stored) throw notFound();
  return updated[0] && toReleaseContext(repo, stored);
}

type Edited = Pick<Release, "tagName" | "target" | "title" | "body" | "isDraft" | "isPrerelease">;

const withEdit = (row: Release, edit: ReleaseEdit): Edited => ({
  tagName: edit.tagName ?? row.tagName,
  target: edit.target ?? row.target,
  title: edit.title ?? row.title,
  body: edit.body ?? row.body,
  isDraft: edit.isDraft ?? row.isDraft,
  isPrerelease: edit.isPrerelease ?? row.isPrerelease,
});

const isSame = (row: Release, edited: Edited): boolean =>
  (Object.keys(edited) as (keyof Edited)[]).every((name) => edited[name] === row[name]);

/** Before the tag is created, which would stay. */
async function requireFreeTag(
  { db }: Ctx,
  { id, repoId }: Release,
  tagName: string,
): Promise<void> {
  requireTagName(tagName);
  const [taken] = await db
    .select({ id: releases.id })
    .from(releases)
    .where(
      and(
        eq(releases.repoId, repoId),
        eq(releases.lowerTagName, tagName.toLowerCase()),
        ne(releases.id, id),
      ),
    );
  if (taken) throw tagTaken();
}
