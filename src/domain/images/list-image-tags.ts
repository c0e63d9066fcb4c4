import { and, asc, eq, gt, not, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { packageVersions } from "../../db/schema/index.ts";
import type { PackageContext } from "../packages/find-package.ts";
import { isUntagged } from "./image.ts";

/** Lists up to `limit` tags of an image in ASCII order, after the tag `after`, which need not exist. */
export async function listImageTags(
  { db }: Ctx,
  { row }: PackageContext,
  { limit, after }: { limit: number; after: string },
): Promise<string[]> {
  const rows = await db
    .select({ tag: packageVersions.version })
    .from(packageVersions)
    .where(
      and(
        eq(packageVersions.packageId, row.id),
        gt(packageVersions.versionKey, after),
        eq(packageVersions.isInternal, false),
        not(isUntagged(sql`${packageVersions.versionKey}`)),
      ),
    )
    .orderBy(asc(packageVersions.versionKey))
    .limit(limit);
  return rows.map(({ tag }) => tag);
}
