import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { packageProperties, packageVersions } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { PackageContext } from "./find-package.ts";

/** The property of a version with the reason why it is yanked. */
export const YANK_REASON = "yank.reason";

/**
 * Hides a version from those who do not ask for exactly it, or shows it again. Its files stay.
 *
 * @param reason Shown by formats that have one; "" for none.
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function setYanked(
  { db }: Ctx,
  { row }: PackageContext,
  { id }: { readonly id: number },
  isYanked: boolean,
  reason = "",
): Promise<void> {
  const isVersion = and(eq(packageVersions.id, id), eq(packageVersions.packageId, row.id));
  const dropReason = db
    .delete(packageProperties)
    .where(
      and(
        eq(packageProperties.packageId, row.id),
        eq(packageProperties.versionId, id),
        eq(packageProperties.name, YANK_REASON),
      ),
    );
  const addReason = insertSelect(
    db,
    packageProperties,
    { packageId: packageVersions.packageId, versionId: id, name: YANK_REASON, value: reason },
    sql`from ${packageVersions} where ${isVersion}`,
  );
  const [changed] = await db.batch([
    db
      .update(packageVersions)
      .set({ isYanked })
      .where(isVersion)
      .returning({ id: packageVersions.id }),
    dropReason,
    ...(isYanked && reason !== "" ? [addReason] : []),
  ]);
  if (changed.length === 0) throw notFound();
}
