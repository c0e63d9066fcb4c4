import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { packageVersions } from "../../db/schema/index.ts";
import { deleteVersions } from "../../domain/packages/package/delete-version.ts";
import type { PackageContext } from "../../domain/packages/package/find-package.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { loadSummaries, type VersionSummary } from "./load-package.ts";
import { LATEST, requireDistTag, versionKeyOf } from "./names.ts";
import type { Document } from "./parse-publication.ts";
import { asOutdated, isRevision, requireRevision } from "./revision.ts";
import { deleteOtherTags, deleteDistTag, setDistTags, TAGS_MAX } from "./tags.ts";

/** Maximum length of the reason why a version should not be used. */
const DEPRECATION_LENGTH_MAX = 4096;

/**
 * Changes a package by a document that a client has read and changed: the deprecation of its
 * versions, and its tags. Anything else of a version stays as it was published.
 *
 * A document in place of a revision deletes the versions that it leaves out: `npm unpublish` sends
 * one, and its next request, for the tarball, may name another address. Other documents delete
 * none.
 *
 * @param replaced The revision in whose place the document is put, where the address names it.
 * @throws Failure `malformed` for a version that does not exist, a document without versions, or
 *   one that leaves out versions in place of no revision of this registry; `conflict` if the
 *   package has changed since it was read.
 */
export async function changePackage(
  ctx: Ctx,
  pkg: PackageContext,
  document: Document,
  replaced?: string,
): Promise<void> {
  requireServed(document);
  const { versions, tags } = await loadSummaries(ctx, pkg);
  const byKey = new Map(versions.map((each) => [each.versionKey, each]));
  const named = Object.entries(document.versions).map(
    ([version, { deprecated }]) => [requireKnown(byKey, version), deprecated] as const,
  );
  const deprecations = named.flatMap(([{ versionKey, deprecated }, value]) => {
    const reason = parseDeprecation(value);
    return reason === (deprecated ?? "") ? [] : [[versionKey, reason] as const];
  });
  const kept = new Map(
    replaced === undefined ? byKey : named.map(([each]) => [each.versionKey, each]),
  );
  const leftOut = [...byKey.keys()].filter((each) => !kept.has(each));
  if (leftOut.length > 0 && !isRevision(replaced ?? "")) {
    throw malformed("a document that leaves out versions needs the revision that was read");
  }
  const requestedTags = document["dist-tags"];
  await runChange(ctx, pkg, replaced ?? document["_rev"], [
    ...(leftOut.length > 0 ? deletionOf(ctx, pkg, leftOut) : []),
    ...(deprecations.length > 0 ? [setDeprecations(ctx, pkg, deprecations)] : []),
    ...(requestedTags
      ? replaceTags(ctx, pkg, keysOf(kept, requestedTags), keysOf(byKey, tags))
      : []),
  ]);
}

/** The statements that delete versions, with an event for each. */
const deletionOf = (
  ctx: Ctx,
  pkg: PackageContext,
  versionKeys: readonly string[],
): BatchItem<"sqlite">[] =>
  Object.values(
    deleteVersions(
      ctx,
      pkg,
      sql`${packageVersions.versionKey} in (
        select value
        from json_each(${JSON.stringify(versionKeys)})
      )`,
    ),
  );

/**
 * Sets tags. @param isWhole Whether the package keeps no others. @throws Failure `malformed`,
 * `not_found`
 */
export async function changeTags(
  ctx: Ctx,
  pkg: PackageContext,
  requestedTags: Readonly<Record<string, string>>,
  isWhole: boolean,
): Promise<void> {
  for (const tag of Object.keys(requestedTags)) requireDistTag(tag);
  const { versions, stored, tags } = await loadSummaries(ctx, pkg);
  const byKey = new Map(versions.map((each) => [each.versionKey, each]));
  for (const version of Object.values(requestedTags)) {
    if (!byKey.has(versionKeyOf(version) ?? "")) throw notFound("package does not exist");
  }
  const added = Object.keys(requestedTags).filter((tag) => !(tag in tags)).length;
  if (!isWhole && stored.length + added > TAGS_MAX) {
    throw malformed(`a package has at most ${TAGS_MAX} tags`);
  }
  const keys = keysOf(byKey, requestedTags);
  await runChange(
    ctx,
    pkg,
    undefined,
    isWhole ? replaceTags(ctx, pkg, keys, {}) : setDistTags(ctx.db, pkg.row, keys),
  );
}

/** Deletes a tag, if it is there. After `latest` was deleted, no version takes its place. */
export async function removeTag(ctx: Ctx, { row }: PackageContext, tag: string): Promise<void> {
  await ctx.db.batch(deleteDistTag(ctx.db, row.id, requireDistTag(tag), tag === LATEST));
}

/**
 * Deletes a version, or all of them.
 *
 * @throws Failure `not_found` if there is none; `conflict` if the package has changed since the
 *   client read `revision`.
 */
export async function unpublish(
  ctx: Ctx,
  pkg: PackageContext,
  revision: string,
  versionId?: number,
): Promise<void> {
  const isOne: SQL | undefined =
    versionId === undefined ? undefined : eq(packageVersions.id, versionId);
  try {
    const { deleted } = await batch(ctx.db, {
      revision: requireRevision(ctx, pkg.row, revision),
      ...deleteVersions(ctx, pkg, isOne),
    });
    if (deleted.length === 0) throw notFound("package does not exist");
  } catch (error) {
    throw asOutdated(error);
  }
}

/** Refuses a change that would be answered with success and change nothing. */
function requireServed({ versions, users }: Document): void {
  if (Object.keys(versions).length === 0) {
    throw malformed("a document has versions: delete the package to delete all of them");
  }
  if (Object.keys(users ?? {}).length > 0) throw malformed("packages have no stars here");
}

function requireKnown(byKey: ReadonlyMap<string, VersionSummary>, version: string): VersionSummary {
  const known = byKey.get(versionKeyOf(version) ?? "");
  if (known) return known;
  throw malformed(
    `package attachment is invalid: the version ${JSON.stringify(version)} needs its tarball`,
  );
}

/** @returns "" for a version that may be used: npm sends that, older clients nothing. */
function parseDeprecation(value: unknown): string {
  if (value === undefined || value === null || value === false) return "";
  if (typeof value === "string" && value.length <= DEPRECATION_LENGTH_MAX) return value;
  throw malformed(`deprecated is a text of at most ${DEPRECATION_LENGTH_MAX} characters`);
}

/** The keys of versions by tag. @throws Failure `malformed` */
function keysOf(
  byKey: ReadonlyMap<string, VersionSummary>,
  tags: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = Object.entries(tags);
  if (entries.length > TAGS_MAX) throw malformed(`a package has at most ${TAGS_MAX} tags`);
  return Object.fromEntries(
    entries.map(([tag, version]) => [requireDistTag(tag), requireKnown(byKey, version).versionKey]),
  );
}

/**
 * The statements that leave a package with the requested tags; tags that are in place already are
 * not touched.
 */
function replaceTags(
  { db }: Ctx,
  { row }: PackageContext,
  requestedTags: Readonly<Record<string, string>>,
  present: Readonly<Record<string, string>>,
): BatchItem<"sqlite">[] {
  const changed = Object.entries(requestedTags).filter(([tag, key]) => present[tag] !== key);
  return [
    deleteOtherTags(db, row.id, Object.keys(requestedTags)),
    ...setDistTags(db, row, Object.fromEntries(changed)),
  ];
}

function setDeprecations(
  { db }: Ctx,
  { row }: PackageContext,
  deprecations: readonly (readonly [versionKey: string, reason: string])[],
): BatchItem<"sqlite"> {
  const { metadata } = packageVersions;
  return db
    .update(packageVersions)
    .set({
      metadata: sql`case given.reason
        when '' then json_remove(${metadata}, '$.deprecated')
        else json_set(${metadata}, '$.deprecated', given.reason)
      end`,
    })
    .from(sql`(
      select value ->> 0 as version_key, value ->> 1 as reason
      from json_each(${JSON.stringify(deprecations)})
    ) as given`)
    .where(
      and(
        eq(packageVersions.packageId, row.id),
        sql`${packageVersions.versionKey} = given.version_key`,
      ),
    );
}

async function runChange(
  ctx: Ctx,
  { row }: PackageContext,
  revision: string | undefined,
  statements: readonly BatchItem<"sqlite">[],
): Promise<void> {
  if (statements.length === 0) return;
  try {
    await ctx.db.batch([requireRevision(ctx, row, revision), ...statements]);
  } catch (error) {
    throw asOutdated(error);
  }
}
