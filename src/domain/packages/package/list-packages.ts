import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packages, type Package, type PackageType } from "../../../db/schema/index.ts";

/**
 * All packages of an owner and format, by their names.
 *
 * SECURITY: also those that the caller may not see.
 */
export const listPackages = ({ db }: Ctx, ownerId: number, type: PackageType): Promise<Package[]> =>
  packagesOfType(db, { ownerId, type }).execute();

const packagesOfType = prepare((db, p: Params<{ ownerId: number; type: PackageType }>) =>
  db
    .select()
    .from(packages)
    .where(and(eq(packages.ownerId, p.ownerId), eq(packages.type, p.type)))
    .orderBy(packages.nameKey),
);
