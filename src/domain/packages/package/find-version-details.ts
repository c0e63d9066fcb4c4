import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  packageVersions,
  type PackageVersion,
  type User,
  users,
} from "../../../db/schema/index.ts";
import type { PackageContext } from "./find-package.ts";
import { idOfVersionNamed, type VersionName, versionName } from "./find-version.ts";

/** A version with its metadata, which may be large. */
export interface VersionDetails {
  readonly version: PackageVersion;
  /** Undefined for a deleted account. */
  readonly creator: User | undefined;
}

/**
 * Finds a version of a package that a person names, with its metadata; undefined if there is none.
 *
 * Cost: one round trip.
 */
export async function findVersionDetails(
  { db }: Ctx,
  { row }: PackageContext,
  name: string,
): Promise<VersionDetails | undefined> {
  const [found] = await detailsOf(db, { packageId: row.id, name: versionName(name) });
  return found && { version: found.version, creator: found.creators[0] };
}

const detailsOf = prepare((db, p: Params<{ packageId: number; name: VersionName }>) =>
  db
    .select({
      version: columnsOf(packageVersions, "v"),
      creators: jsonRows(
        users,
        sql`from ${users} where ${users.id} = ${packageVersions.creatorId}`,
        "creators",
      ),
    })
    .from(packageVersions)
    .where(sql`${packageVersions.id} = ${idOfVersionNamed(p.packageId, p.name)}`),
);
