import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { packageProperties, packageVersions } from "../../db/schema/index.ts";

/** The property of a version, or of the package after its owner has deleted `latest`. */
export const TAG_PROPERTY = "npm.tag";

/**
 * Maximum number of tags of a package that a request can set or that are in place when it adds one.
 */
export const TAGS_MAX = 1000;

/** The statements that set tags to versions that exist. @param tags The keys of versions by tag. */
export function setDistTags(
  db: Database,
  packageId: number | SQL<number>,
  tags: Readonly<Record<string, string>>,
): BatchItem<"sqlite">[] {
  const list = JSON.stringify(Object.entries(tags));
  const isPackage = eq(packageProperties.packageId, packageId);
  return [
    db
      .delete(packageProperties)
      .where(
        and(
          isPackage,
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
          on ${packageVersions.packageId} = ${packageId}
          and ${packageVersions.versionKey} = given.value ->> 1`,
    ),
  ];
}

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
