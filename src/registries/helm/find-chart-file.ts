import { and, eq, sql } from "drizzle-orm";

import { columnsOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageBlobs, packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import type { FileOfVersion } from "../../domain/packages/package/find-file.ts";
import type { RegistryRequest } from "../enter-registry.ts";
import { chartsOfFile } from "./names.ts";

/**
 * Finds the archive of a chart, or its provenance, by the name of the file. Undefined if the caller
 * may not see it.
 */
export async function findChartFile(
  { ctx, owner, sees }: RegistryRequest,
  file: string,
): Promise<FileOfVersion | undefined> {
  const keys = chartsOfFile(file.replace(/\.prov$/, ""));
  const list = JSON.stringify(keys.map(({ name, version }) => [name, version]));
  const [found] = await chartFile(ctx.db, { ownerId: owner.account.id, file, list });
  return found && sees(found.pkg) ? found : undefined;
}

/** @param p.list Names and versions of charts, as JSON. */
const chartFile = prepare(
  (db, { ownerId, file, list }: Params<{ ownerId: number; file: string; list: string }>) =>
    db
      .select({
        file: columnsOf(packageFiles, "f"),
        blob: columnsOf(packageBlobs, "b"),
        version: columnsOf(packageVersions, "v"),
        pkg: columnsOf(packages, "p"),
      })
      .from(packages)
      .innerJoin(packageVersions, eq(packageVersions.packageId, packages.id))
      .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
      .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
      .where(
        and(
          eq(packages.ownerId, ownerId),
          eq(packages.type, "helm"),
          eq(packageFiles.nameKey, file),
          sql`(${packages.nameKey}, ${packageVersions.versionKey}) in (
            select value ->> 0, value ->> 1
            from json_each(${list})
          )`,
        ),
      ),
);
