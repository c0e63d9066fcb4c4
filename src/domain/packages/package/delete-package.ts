import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { notFound } from "../../../lib/failure.ts";
import { deleteVersions } from "./delete-version.ts";
import type { PackageContext } from "./find-package.ts";

/**
 * Deletes a package with all of its versions, each with an event.
 *
 * Cost: one round trip of the database, whose statements work on every version.
 *
 * @throws Failure `not_found` if another request has deleted it.
 */
export async function deletePackage(ctx: Ctx, pkg: PackageContext): Promise<void> {
  const { deleted } = await batch(ctx.db, deleteVersions(ctx, pkg, undefined));
  if (deleted.length === 0) throw notFound();
}
