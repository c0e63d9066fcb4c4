import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type Release, releases, repositories, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, Failure, invalid } from "../../../lib/failure.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireTagName } from "../../code/tags/create-tag.ts";
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
 * @throws Failure `conflict` if the tag has a release, also a draft: names are compared without
 * case, as in Gitea; `invalid` in an empty repository; as `placeTag`.
 */
export async function createRelease(
  ctx: Ctx,
  repo: RepositoryContext,
  publisher: User,
  input: NewRelease,
): Promise<ReleaseContext> {
  requireReleaseWriting(repo);
  if (repo.row.isEmpty) throw invalid("repo is empty");
  const { tagName, title, body, isDraft, isPrerelease, tagMessage: message } = input;
  requireTagName(tagName);
  const { db, now } = ctx;
  const ofTag = { repoId: repo.row.id, lowerTagName: tagName.toLowerCase() };
  const [taken] = await idOfTag(db, ofTag);
  if (taken) throw tagTaken();
  const tag = isDraft
    ? undefined
    : await placeTag(ctx, repo, publisher, { name: tagName, target: input.target, message });
  // The target of a tag that was there before is nobody's choice.
  const target = input.target || (tag?.kind === "found" ? "" : repo.row.defaultBranch);
  const row = {
    ...ofTag,
    tagName,
    target,
    title,
    body,
    isDraft,
    isPrerelease,
    publisherId: publisher.id,
    createdAt: timeOf(ctx, tag),
    publishedAt: isDraft ? null : now,
  };
  const event = {
    type: "release.published",
    repoId: repo.row.id,
    ownerId: repo.row.ownerId,
    tagName,
    releaseId: LAST_INSERT_ID,
  } as const;
  const { inserted, stored } = await batch(db, {
    inserted: insertRelease(db, boundRow(releases, row)),
    event: isDraft ? undefined : recordIfChanged(ctx, event),
    stored: releaseOfTag(db, ofTag),
  });
  if (!inserted[0] || !stored[0]) throw tagTaken();
  return toReleaseContext(repo, stored[0]);
}

/** A release that a request has made, or that an earlier one with the same input has. */
export interface CreatedRelease {
  readonly release: ReleaseContext;
  readonly isNew: boolean;
}

/**
 * Creates a release as `createRelease` does, unless the same user has created the same one: a form
 * may be sent again after its answer was lost.
 */
export async function createReleaseOnce(
  ctx: Ctx,
  repo: RepositoryContext,
  publisher: User,
  input: NewRelease,
): Promise<CreatedRelease> {
  try {
    return { release: await createRelease(ctx, repo, publisher, input), isNew: true };
  } catch (error) {
    if (!isTagTaken(error)) throw error;
    const tag = { repoId: repo.row.id, lowerTagName: input.tagName.toLowerCase() };
    const [stored] = await releaseOfTag(ctx.db, tag);
    if (!stored || !isMadeOf(stored.release, publisher, input)) throw error;
    return { release: toReleaseContext(repo, stored), isNew: false };
  }
}

const isMadeOf = (row: Release, publisher: User, input: NewRelease): boolean =>
  row.publisherId === publisher.id &&
  row.tagName === input.tagName &&
  row.title === input.title &&
  row.body === input.body &&
  row.isPrerelease === input.isPrerelease;

type ReleaseTag = Params<{ repoId: number; lowerTagName: string }>;

const isOfTag = ({ repoId, lowerTagName }: ReleaseTag) =>
  and(eq(releases.repoId, repoId), eq(releases.lowerTagName, lowerTagName));

const idOfTag = prepare((db, tag: ReleaseTag) =>
  db.select({ id: releases.id }).from(releases).where(isOfTag(tag)),
);

const releaseOfTag = prepare((db, tag: ReleaseTag) => selectReleases(db).where(isOfTag(tag)));

const insertRelease = prepare((db, row: Params<BoundRow<typeof releases.$inferInsert>>) =>
  insertSelect(
    db,
    releases,
    { ...row, repoId: sql`${repositories.id}` },
    sql`from ${repositories} where ${eq(repositories.id, row.repoId)}`,
  )
    .onConflictDoNothing()
    .returning({ id: releases.id }),
);

/** Gitea's words. */
const TAG_TAKEN = "Release is has no Tag";

export const tagTaken = (): Failure => conflict(TAG_TAKEN);

/** Whether work was refused since the tag has another release. */
export const isTagTaken = (error: unknown): boolean =>
  error instanceof Failure && error.kind === "conflict" && error.message === TAG_TAKEN;
