import { and, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packages, packageVersions, type Package } from "../../db/schema/index.ts";
import type { PackageOwner } from "../../domain/packages/package/find-package.ts";

const each = alias(packageVersions, "each");
const newest = alias(packageVersions, "newest");

/** A package that a search finds, with the description of its newest version. */
export interface FoundPackage {
  readonly pkg: Package;
  readonly description: string;
  readonly downloads: number;
}

/**
 * Finds packages of an owner whose name or description contains each word of a text, by name.
 *
 * @param type The type of Composer's, such as `library`; "" for all.
 */
export async function searchComposerPackages(
  { db }: Ctx,
  { account }: PackageOwner,
  text: string,
  type: string,
): Promise<FoundPackage[]> {
  const rows = await newestVersions(db, { ownerId: account.id });
  const words = text.toLowerCase().split(/\s+/);
  return rows.filter(
    (row) =>
      (type === "" || row.type === type) &&
      words.every((word) => `${row.pkg.name} ${row.description}`.toLowerCase().includes(word)),
  );
}

const newestVersions = prepare((db, { ownerId }: Params<{ ownerId: number }>) =>
  db
    .select({
      pkg: columnsOf(packages, "p"),
      description: sql<string>`
        coalesce(json_extract(${packageVersions.metadata}, '$.description'), '')
      `.as("description"),
      type: sql<string>`
        coalesce(json_extract(${packageVersions.metadata}, '$.type'), 'library')
      `.as("kind"),
      downloads: sql<number>`(
        select sum(${each.downloadCount})
        from ${packageVersions} ${each}
        where ${each.packageId} = ${packages.id}
      )`.as("downloads"),
    })
    .from(packages)
    .innerJoin(
      packageVersions,
      sql`${packageVersions.id} = (
        select max(${newest.id})
        from ${packageVersions} ${newest}
        where ${newest.packageId} = ${packages.id}
      )`,
    )
    .where(and(eq(packages.ownerId, ownerId), eq(packages.type, "composer")))
    .orderBy(packages.nameKey),
);
