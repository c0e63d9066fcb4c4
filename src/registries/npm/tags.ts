import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { type Params, prepareAll } from "../../db/prepared.ts";
import { packageProperties, packageVersions } from "../../db/schema/index.ts";
import {
  type PublishedKey,
  publishedPackageId,
} from "../../domain/packages/package/publish-version.ts";

/** The property of a version, or of the package after its owner has deleted `latest`. */
export const TAG_PROPERTY = "npm.tag";

/**
 * Maximum number of tags of a package that a request can set or that are in place when it adds one.
 */
export const TAGS_MAX = 1000;

/** The package whose tags are set: by its key, since the batch may have inserted it. */
type Tagged = Omit<PublishedKey, "versionKey">;

/** The statements that set tags to versions that exist. @param tags The keys of versions by tag. */
export const setDistTags = (
  db: Database,
  { ownerId, type, nameKey }: Tagged,
  tags: Readonly<Record<string, string>>,
): readonly BatchItem<"sqlite">[] =>
  setTags(db, {
    pkg: { ownerId, type, nameKey },
    list: JSON.stringify(Object.entries(tags)),
  });

const setTags = prepareAll((db, { pkg, list }: Params<{ pkg: Tagged; list: string }>) => [
  db
    .delete(packageProperties)
    .where(
      and(
        eq(packageProperties.packageId, publishedPackageId(pkg)),
        eq(packageProperties.name, TAG_PROPERTY),
        sql`${packageProperties.value} in (select value ->> 0 from json_each(${list}))`,
      ),
    ),
  insertSelect(
    db,
    packageProperties,
    {
      packageId: sql`${packageVersions.packageId}`,
      versionId: sql`${packageVersions.id}`,
      name: TAG_PROPERTY,
      value: sql`given.value ->> 0`,
    },
    sql`
      from json_each(${list}) given
      join ${packageVersions}
        on ${packageVersions.packageId} = ${publishedPackageId(pkg)}
        and ${packageVersions.versionKey} = given.value ->> 1`,
  ),
]);

/** The statement that deletes all tags of a package but some. */
export function deleteOtherTags(db: Database, packageId: number, kept: readonly string[]) {
  const list = JSON.stringify(kept);
  return db
    .delete(packageProperties)
    .where(
      and(
        eq(packageProperties.packageId, packageId),
        eq(packageProperties.name, TAG_PROPERTY),
        sql`${packageProperties.value} not in (select value from json_each(${list}))`,
      ),
    );
}

/**
 * The statements that delete a tag. @param isRemembered Whether it is noted that there is to be no
 * such tag.
 */
export function deleteDistTag(
  db: Database,
  packageId: number,
  tag: string,
  isRemembered: boolean,
): [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]] {
  const isTag = and(
    eq(packageProperties.packageId, packageId),
    eq(packageProperties.name, TAG_PROPERTY),
    eq(packageProperties.value, tag),
  );
  const remove = db.delete(packageProperties).where(isTag);
  if (!isRemembered) return [remove];
  return [
    remove,
    db.insert(packageProperties).values({ packageId, name: TAG_PROPERTY, value: tag }),
  ];
}
