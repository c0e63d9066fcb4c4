import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { releases, repositories, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { conflict, invalid } from "../../lib/failure.ts";
import type { ReleaseContext } from "../../shapes/releases/release.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { requireTagName } from "../tags/create-tag.ts";
import { selectReleases, toReleaseContext } from "./find-release.ts";
import { placeTag, timeOf } from "./place-tag.ts";
import { requireReleaseWriting } from "./require-release-access.ts";

/** The input for a new release. */
export interface NewRelease {
  readonly tagName: string;
  /** The branch, tag or commit from which a new tag is created; the default branch if empty. */
  readonly target: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly isPrerelease: boolean;
  /** The message of a new tag; "" for a lightweight one. */
  readonly tagMessage: string;
}

/**
 * Creates a release and, unless it is a draft, its tag where the repository does not have it.
 *
 * @throws Failure `conflict` if the tag has a release, also a draft: names are compared without case, as in Gitea;
 * `invalid` in an empty repository; as `placeTag`.
 */
export async function createRelease(
  ctx: Ctx,
  repo: RepositoryContext,
  publisher: User,
  wanted: NewRelease,
): Promise<ReleaseContext> {
  requireReleaseWriting(repo);
  if (repo.row.isEmpty) throw invalid("repo is empty");
  const { tagName, title, body, isDraft, isPrerelease, tagMessage: message } = wanted;
  requireTagName(tagName);
  const { db, now } = ctx;
  const ofTag = and(
    eq(releases.repoId, repo.row.id),
    eq(releases.lowerTagName, tagName.toLowerCase()),
  );
  const [taken] = await db.select({ id: releases.id }).from(releases).where(ofTag);
  if (taken) throw tagTaken();
  const tag = isDraft
    ? undefined
    : await placeTag(ctx, repo, publisher, { name: tagName, target: wanted.target, message });
  // The target of a tag that was there before is nobody's choice.
  const target = wanted.target || (tag?.kind === "found" ? "" : repo.row.defaultBranch);
  const row = {
    repoId: sql`${repositories.id}`,
    tagName,
    lowerTagName: tagName.toLowerCase(),
    target,
    title,
    body,
    isDraft,
    isPrerelease,
    publisherId: publisher.id,
    createdAt: timeOf(ctx, tag),
    publishedAt: isDraft ? null : now,
  };
  const insert = insertSelect(
    db,
    releases,
    row,
    sql`from ${repositories} where ${eq(repositories.id, repo.row.id)}`,
  )
    .onConflictDoNothing()
    .returning({ id: releases.id });
  const select = selectReleases(db).where(ofTag);
  const subject = { repoId: repo.row.id, ownerId: repo.row.ownerId, tagName };
  const [[inserted], [stored]] = isDraft
    ? await db.batch([insert, select])
    : await db
        .batch([
          insert,
          recordIfChanged(ctx, {
            type: "release.published",
            ...subject,
            releaseId: sql`last_insert_rowid()`,
          }),
          select,
        ])
        .then(([first, , last]) => [first, last] as const);
  if (!inserted || !stored) throw tagTaken();
  return toReleaseContext(repo, stored);
}

/** Gitea's words. */
export const tagTaken = () => conflict("Release is has no Tag");
