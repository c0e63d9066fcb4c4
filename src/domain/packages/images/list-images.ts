import { and, asc, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { isPackageInReach } from "../../../auth/access/credential-reach.ts";
import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packages, packageVersions, repositories, users } from "../../../db/schema/index.ts";

/** The name of an image, as `owner/image`. */
interface ImageName {
  readonly owner: string;
  readonly name: string;
}

/** A page of images. */
export interface ImagePage {
  readonly images: readonly ImageName[];
  /** Whether there may be more after `last`. */
  readonly last: ImageName | undefined;
}

/**
 * Images whose private repository was deleted are listed for their own account, and for
 * administrators.
 */
const isUnrestricted = ({ isSiteAdmin, userId }: Params<Principal>): SQL =>
  isSiteAdmin
    ? sql`true`
    : anyOf(eq(packages.isRestricted, false), eq(packages.ownerId, userId ?? 0));

/**
 * Lists images that have a tag or a manifest and that the caller may see, in the order of their
 * owners and names.
 *
 * SECURITY: by the rule of `toPackageContext`, over all owners whom the caller may see.
 *
 * Cost: one round trip.
 */
export async function listImages(
  ctx: Ctx,
  { limit, after }: { limit: number; after: ImageName },
): Promise<ImagePage> {
  const { actor } = ctx;
  const rows = await imagesAfter(ctx.db, { principal: principalOf(actor), limit, after });
  const images = rows.filter((image) => isPackageInReach(actor, { ...image, type: "container" }));
  return { images, last: rows.length === limit ? rows.at(-1) : undefined };
}

interface ImagesArgument {
  readonly principal: Principal;
  readonly limit: number;
  readonly after: ImageName;
}

const imagesAfter = prepare((db, { principal, limit, after }: Params<ImagesArgument>) =>
  db
    .select({ owner: users.name, name: packages.name })
    .from(packages)
    .innerJoin(users, eq(users.id, packages.ownerId))
    .leftJoin(repositories, eq(repositories.id, packages.repoId))
    .where(
      and(
        eq(packages.type, "container"),
        isAccountVisible(principal),
        anyOf(
          principal.boundTokenId === undefined
            ? allOf(isNull(packages.repoId), isUnrestricted(principal))
            : undefined,
          allOf(isNotNull(packages.repoId), isRepositoryVisible(principal)),
        ),
        sql`(${users.lowerName}, ${packages.nameKey}) > (${after.owner}, ${after.name})`,
        sql`exists (
          select 1
          from ${packageVersions}
          where ${packageVersions.packageId} = ${packages.id} and not ${packageVersions.isInternal}
        )`,
      ),
    )
    .orderBy(asc(users.lowerName), asc(packages.nameKey))
    .limit(limit),
);
