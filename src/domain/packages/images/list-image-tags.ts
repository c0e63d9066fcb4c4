import { and, asc, eq, gt, not, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packageVersions } from "../../../db/schema/index.ts";
import type { PackageContext } from "../package/find-package.ts";
import { isUntagged } from "./image.ts";

/**
 * Lists up to `limit` tags of an image in ASCII order, after the tag `after`, which need not exist.
 */
export async function listImageTags(
  { db }: Ctx,
  { row }: PackageContext,
  { limit, after }: { limit: number; after: string },
): Promise<string[]> {
  const rows = await tagsAfter(db, { packageId: row.id, limit, after });
  return rows.map(({ tag }) => tag);
}

const tagsAfter = prepare((db, p: Params<{ packageId: number; limit: number; after: string }>) =>
  db
    .select({ tag: packageVersions.version })
    .from(packageVersions)
    .where(
      and(
        eq(packageVersions.packageId, p.packageId),
        gt(packageVersions.versionKey, p.after),
        eq(packageVersions.isInternal, false),
        not(isUntagged(sql`${packageVersions.versionKey}`)),
      ),
    )
    .orderBy(asc(packageVersions.versionKey))
    .limit(p.limit),
);
