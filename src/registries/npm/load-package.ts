import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageProperties, packageVersions, type PackageVersion } from "../../db/schema/index.ts";
import type { PackageContext } from "../../domain/packages/package/find-package.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import type { Manifest } from "./manifest.ts";
import { LATEST, versionKeyOf } from "./names.ts";
import { ABBREVIATED, resolveTags, type StoredPackage, type StoredTag } from "./packument.ts";
import { formatRevision } from "./revision.ts";
import { TAG_PROPERTY } from "./tags.ts";

const isVersionOf = (packageId: SQL): SQL | undefined =>
  and(eq(packageVersions.packageId, packageId), eq(packageVersions.isInternal, false));

/** The fields that installing needs. A merge patch leaves out those that are null. */
const abbreviated = sql<string>`json_patch('{}', json_object(${sql.join(
  ABBREVIATED.flatMap((name) => [
    sql.raw(`'${name}'`),
    sql`${packageVersions.metadata} -> ${sql.raw(`'$.${name}'`)}`,
  ]),
  sql`, `,
)}))`;
/** All but the readme, of which a document has only one. */
const withoutReadme = sql<string>`json_remove(${packageVersions.metadata}, '$.readme')`;

/** Loads a package with its versions and tags, in one round trip. */
export async function loadPackage(
  ctx: Ctx,
  pkg: PackageContext,
  form: "full" | "abbreviated",
): Promise<StoredPackage> {
  const { row } = pkg;
  const ofPackage = { packageId: row.id };
  const { versions, tags, readmes } = await batch(ctx.db, {
    versions: versionDocuments(ctx.db, ofPackage, form),
    tags: tagsOf(ctx.db, ofPackage),
    readmes: readmeOf(ctx.db, ofPackage),
  });
  return {
    name: row.name,
    revision: formatRevision(row),
    createdAt: row.createdAt,
    versions: versions.map(({ version, manifest, createdAt }) => ({
      version,
      createdAt,
      manifest: JSON.parse(manifest) as Manifest,
    })),
    tags,
    readme: readmes[0]?.readme ?? null,
  };
}

type PackageParams = Params<{ packageId: number }>;

const versionDocuments = prepare((db, { packageId }: PackageParams, form: "full" | "abbreviated") =>
  db
    .select({
      version: packageVersions.version,
      manifest: form === "full" ? withoutReadme : abbreviated,
      createdAt: packageVersions.createdAt,
    })
    .from(packageVersions)
    .where(isVersionOf(packageId))
    .orderBy(asc(packageVersions.id)),
);

const tagsOf = prepare((db, { packageId }: PackageParams) =>
  db
    .select({ tag: packageProperties.value, version: packageVersions.version })
    .from(packageProperties)
    .leftJoin(packageVersions, eq(packageVersions.id, packageProperties.versionId))
    .where(
      and(eq(packageProperties.packageId, packageId), eq(packageProperties.name, TAG_PROPERTY)),
    )
    .orderBy(asc(packageProperties.id)),
);

const newest = alias(packageVersions, "newest");

const readmeOf = prepare((db, { packageId }: PackageParams) =>
  db
    .select({ readme: sql<string | null>`${packageVersions.metadata} ->> '$.readme'` })
    .from(packageVersions)
    .where(
      sql`${packageVersions.id} = coalesce(
        (
          select ${packageProperties.versionId}
          from ${packageProperties}
          where ${and(
            eq(packageProperties.packageId, packageId),
            eq(packageProperties.name, TAG_PROPERTY),
            eq(packageProperties.value, LATEST),
          )}
        ),
        (
          select max(${newest.id})
          from ${packageVersions} ${newest}
          where ${newest.packageId} = ${packageId}
        )
      )`,
    ),
);

/** The parts of a version that resolve tags and that clients may change. */
export interface VersionSummary {
  readonly version: string;
  readonly versionKey: string;
  /** The reason why it should not be used; undefined if there is none. */
  readonly deprecated: string | undefined;
}

/** Loads the versions and tags of a package without metadata, in one round trip. */
export async function loadSummaries(
  ctx: Ctx,
  pkg: PackageContext,
): Promise<{ versions: VersionSummary[]; stored: StoredTag[]; tags: Record<string, string> }> {
  const ofPackage = { packageId: pkg.row.id };
  const { rows, stored } = await batch(ctx.db, {
    rows: versionSummaries(ctx.db, ofPackage),
    stored: tagsOf(ctx.db, ofPackage),
  });
  const versions = rows.map(({ version, versionKey, deprecated }) => ({
    version,
    versionKey,
    deprecated: deprecated ?? undefined,
  }));
  const tags = resolveTags(
    stored,
    versions.map(({ version, deprecated }) => ({
      version,
      isDeprecated: deprecated !== undefined,
    })),
  );
  return { versions, stored, tags };
}

const versionSummaries = prepare((db, { packageId }: PackageParams) =>
  db
    .select({
      version: packageVersions.version,
      versionKey: packageVersions.versionKey,
      deprecated: sql<string | null>`${packageVersions.metadata} ->> '$.deprecated'`,
    })
    .from(packageVersions)
    .where(isVersionOf(packageId))
    .orderBy(asc(packageVersions.id)),
);

/**
 * Finds the version that a tag names.
 *
 * Cost: one round trip; three for `latest` where it was never set, or went with its version.
 */
export async function findTagged(
  ctx: Ctx,
  pkg: PackageContext,
  tag: string,
): Promise<PackageVersion | undefined> {
  const [stored] = await versionOfTag(ctx.db, { packageId: pkg.row.id, tag });
  if (stored || tag !== LATEST) return stored?.version ?? undefined;
  const { tags } = await loadSummaries(ctx, pkg);
  const versionKey = versionKeyOf(tags[LATEST] ?? "");
  return versionKey === undefined ? undefined : findVersion(ctx, pkg, versionKey);
}

/** A tag that is to name no version has a row without one. */
const versionOfTag = prepare((db, { packageId, tag }: Params<{ packageId: number; tag: string }>) =>
  db
    .select({ version: packageVersions })
    .from(packageProperties)
    .leftJoin(
      packageVersions,
      and(eq(packageVersions.id, packageProperties.versionId), isVersionOf(packageId)),
    )
    .where(
      and(
        eq(packageProperties.packageId, packageId),
        eq(packageProperties.name, TAG_PROPERTY),
        eq(packageProperties.value, tag),
      ),
    ),
);
