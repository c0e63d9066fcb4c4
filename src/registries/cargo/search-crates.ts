import { and, asc, desc, eq, sql } from "drizzle-orm";
import compare from "semver/functions/compare.js";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packages, packageVersions } from "../../db/schema/index.ts";
import { readIndex } from "../answer-index.ts";
import type { RegistryRequest } from "../enter-registry.ts";
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

/** A crate as searches see it: that of its newest version. */
interface CatalogCrate {
  readonly id: number;
  readonly name: string;
  readonly nameKey: string;
  readonly repoId: number | null;
  readonly isRestricted: boolean;
  readonly isConcealed: boolean;
  readonly version: string;
  readonly description: string;
}

/**
 * Finds the crates of an owner whose names contain a text, ordered by name.
 *
 * @param page From 1.
 */
export async function searchCrates(
  { ctx, registry, sees }: RegistryRequest,
  text: string,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<CratePage> {
  const bytes = await readIndex(ctx, {
    source: registry,
    kind: ["cargo-catalog"],
    make: async () => JSON.stringify(await listCatalog(ctx, registry.ownerId)),
  });
  const catalog = JSON.parse(new TextDecoder().decode(bytes)) as CatalogCrate[];
  const key = crateKey(text);
  // SECURITY: the catalog has crates that this caller may not see.
  const seen = catalog.filter((crate) => sees(crate) && crate.nameKey.includes(key));
  const crates = seen
    .slice((page - 1) * perPage, page * perPage)
    .map(({ name, version, description }) => ({ name, max_version: version, description }));
  return { crates, total: seen.length };
}

async function listCatalog({ db }: Ctx, ownerId: number): Promise<CatalogCrate[]> {
  const rows = await versionsOfOwner(db, { ownerId });
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((versions) => {
    // The newest version that is not yanked, or the newest.
    const [newest] = versions.toSorted(
      (a, b) => Number(a.isYanked) - Number(b.isYanked) || compare(b.version, a.version),
    );
    if (!newest) return [];
    const { isYanked: _, ...crate } = newest;
    return [crate];
  });
}

const versionsOfOwner = prepare((db, { ownerId }: Params<{ ownerId: number }>) =>
  db
    .select({
      id: packages.id,
      name: packages.name,
      nameKey: packages.nameKey,
      repoId: packages.repoId,
      isRestricted: packages.isRestricted,
      isConcealed: packages.isConcealed,
      version: packageVersions.version,
      isYanked: packageVersions.isYanked,
      description: sql<string>`
        coalesce(json_extract(${packageVersions.metadata}, '$.description'), '')
      `,
    })
    .from(packages)
    .innerJoin(packageVersions, eq(packageVersions.packageId, packages.id))
    .where(and(eq(packages.ownerId, ownerId), eq(packages.type, "cargo")))
    .orderBy(asc(packages.nameKey), desc(packageVersions.id)),
);
