import type { PackageType } from "../../db/schema/index.ts";

/** The version that an event is about. */
export interface OfPackageVersion {
  ownerId: number;
  /** The repository that the package is linked to. */
  repoId: number | null;
  packageId: number;
  versionId: number;
  packageType: PackageType;
  name: string;
  version: string;
  /** The publisher of the version; 0 for a deleted account. */
  creatorId: number;
  /** When it was published, in milliseconds. */
  publishedAt: number;
}

/**
 * Changes of packages. They belong to the owner and to the repository that the package is linked
 * to, whose readers see them. They hold all fields of the webhooks' payloads, since a deleted
 * version can't be read.
 */
export type PackageEvent =
  | (OfPackageVersion & { type: "package.created" })
  | (OfPackageVersion & { type: "package.deleted" });
