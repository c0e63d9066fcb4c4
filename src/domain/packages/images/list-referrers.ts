import { and, asc, eq, gt, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  packageBlobs,
  packageFiles,
  packageProperties,
  packageVersions,
} from "../../../db/schema/index.ts";
import type { PackageContext } from "../package/find-package.ts";
import type { Digest } from "./image.ts";
import { ManifestFacts } from "./manifest.ts";
import { SUBJECT_PROPERTY } from "./publish-manifest.ts";

/** A manifest that is about another one. */
export interface Referrer {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly facts: ManifestFacts;
}

/** Which of the referrers are asked for. */
interface ReferrersPage {
  readonly artifactType: string | undefined;
  readonly limit: number;
  /** The digest of the last one before. */
  readonly after: string;
}

/**
 * Lists manifests of an image that are about a digest, in the order of their own digests, each
 * once.
 */
export async function listReferrers(
  { db }: Ctx,
  { row }: PackageContext,
  subject: Digest,
  { artifactType, limit, after }: ReferrersPage,
): Promise<Referrer[]> {
  const rows = await referrersAfter(db, {
    packageId: row.id,
    subject,
    artifactType,
    limit,
    after,
  });
  return rows.map(({ digest, sizeBytes, metadata }) => ({
    digest,
    sizeBytes,
    facts: ManifestFacts.parse(metadata),
  }));
}

type ReferrersArgument = ReferrersPage & { readonly packageId: number; readonly subject: string };

const referrersAfter = prepare((db, p: Params<ReferrersArgument>) => {
  const type = sql`${packageFiles.metadata} ->> '$.artifactType'`;
  return db
    .select({
      digest: packageFiles.nameKey,
      sizeBytes: packageBlobs.sizeBytes,
      metadata: packageFiles.metadata,
    })
    .from(packageProperties)
    .innerJoin(packageVersions, eq(packageVersions.id, packageProperties.versionId))
    .innerJoin(
      packageFiles,
      and(eq(packageFiles.versionId, packageVersions.id), eq(packageFiles.isLead, true)),
    )
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .where(
      and(
        eq(packageProperties.packageId, p.packageId),
        eq(packageProperties.name, SUBJECT_PROPERTY),
        eq(packageProperties.value, p.subject),
        gt(packageFiles.nameKey, p.after),
        p.artifactType && eq(type, p.artifactType),
      ),
    )
    .groupBy(packageFiles.nameKey)
    .orderBy(asc(packageFiles.nameKey))
    .limit(p.limit);
});
