import { and, asc, eq, inArray, sql } from "drizzle-orm";
import compare from "semver/functions/compare.js";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packages, packageVersions } from "../../db/schema/index.ts";
import type { RegistryView } from "../../domain/packages/find-registry.ts";
import { crateKey } from "./names.ts";

/** A crate in a list. */
interface FoundCrate {
  readonly name: string;
  readonly max_version: string;
  readonly description: string;
}

/** A page of crates. */
export interface CratePage {
  readonly crates: readonly FoundCrate[];
  readonly total: number;
}

/**
 * Finds the crates of an owner whose names contain a text, ordered by name.
 *
 * @param page From 1.
 */
export async function searchCrates(
  { db }: Ctx,
  { registry, sees }: RegistryView,
  text: string,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<CratePage> {
  const rows = await cratesNamedLike(db, { ownerId: registry.ownerId, text: crateKey(text) });
  const seen = rows.filter(sees);
  const shown = seen.slice((page - 1) * perPage, page * perPage);
  if (shown.length === 0) return { crates: [], total: seen.length };
  const versions = await versionsOfCrates(db, { ids: shown.map(({ id }) => id) });
  const byPackage = Map.groupBy(versions, ({ packageId }) => packageId);
  const crates = shown.map(({ id, name }) => {
    // The newest version that is not yanked, or the newest.
    const [newest] = (byPackage.get(id) ?? []).toSorted(
      (a, b) => Number(a.isYanked) - Number(b.isYanked) || compare(b.version, a.version),
    );
    return {
      name,
      max_version: newest?.version ?? "",
      description: newest?.description ?? "",
    };
  });
  return { crates, total: seen.length };
}

const cratesNamedLike = prepare(
  (db, { ownerId, text }: Params<{ ownerId: number; text: string }>) =>
    db
      .select()
      .from(packages)
      .where(
        and(
          eq(packages.ownerId, ownerId),
          eq(packages.type, "cargo"),
          sql`instr(${packages.nameKey}, ${text}) > 0`,
        ),
      )
      .orderBy(asc(packages.nameKey)),
);

const versionsOfCrates = prepare((db, { ids }: Params<{ ids: readonly number[] }>) =>
  db
    .select({
      packageId: packageVersions.packageId,
      version: packageVersions.version,
      isYanked: packageVersions.isYanked,
      description: sql<string>`json_extract(${packageVersions.metadata}, '$.description')`,
    })
    .from(packageVersions)
    .where(inArray(packageVersions.packageId, ids)),
);
