import { and, asc, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  packageBlobs,
  packageFiles,
  packageProperties,
  packageVersions,
} from "../../db/schema/index.ts";
import type { PackageContext } from "../../domain/packages/package/find-package.ts";
import { YANK_REASON } from "../../domain/packages/package/set-yanked.ts";
import { comparePythonVersions, parsePythonVersion } from "./versions.ts";

/** The property of a file with its core metadata. */
export const CORE_METADATA = "pypi.metadata";

/** The stored metadata of a file. */
export interface FileMetadata {
  readonly filetype: "bdist_wheel" | "sdist";
  readonly pythonVersion: string;
  readonly requiresPython: string;
  /**
   * The SHA-256 of its core metadata, if installers may rely on them before they download the file;
   * otherwise "".
   */
  readonly coreMetadataSha256: string;
}

/** A file of a project, as indexes show it. */
export interface ProjectFile extends FileMetadata {
  readonly name: string;
  readonly version: string;
  readonly sizeBytes: number;
  readonly md5: string;
  readonly sha256: string;
  readonly uploadedAt: number;
  readonly isYanked: boolean;
  readonly yankReason: string;
  readonly url: string;
}

/** All files of a project, in the order of their versions and then of their uploads. */
export async function listProjectFiles(ctx: Ctx, pkg: PackageContext): Promise<ProjectFile[]> {
  const rows = await projectFiles(ctx.db, { packageId: pkg.row.id });
  const root = `${ctx.rootUrl}/api/packages/${pkg.owner.account.name}/pypi/files/${pkg.row.nameKey}`;
  const versions = new Map(
    rows.map(({ version }) => [version, parsePythonVersion(version)] as const),
  );
  return rows
    .map(({ metadata, yankReason, ...row }) =>
      Object.assign(row, metadata as FileMetadata, {
        yankReason: yankReason ?? "",
        url: `${root}/${encodeURIComponent(row.version)}/${encodeURIComponent(row.name)}`,
      }),
    )
    .toSorted((left, right) => {
      const [a, b] = [versions.get(left.version), versions.get(right.version)];
      return a && b ? comparePythonVersions(a, b) : 0;
    });
}

const projectFiles = prepare((db, { packageId }: Params<{ packageId: number }>) =>
  db
    .select({
      name: packageFiles.name,
      metadata: packageFiles.metadata,
      uploadedAt: packageFiles.createdAt,
      version: packageVersions.version,
      isYanked: packageVersions.isYanked,
      sizeBytes: packageBlobs.sizeBytes,
      md5: packageBlobs.md5,
      sha256: packageBlobs.sha256,
      yankReason: packageProperties.value,
    })
    .from(packageVersions)
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .leftJoin(
      packageProperties,
      and(
        eq(packageProperties.versionId, packageVersions.id),
        eq(packageProperties.name, YANK_REASON),
      ),
    )
    .where(eq(packageVersions.packageId, packageId))
    .orderBy(asc(packageFiles.id)),
);
