import type { PackageType } from "../../db/schema/index.ts";

/** The version that an event is about. */
interface OfPackageVersion {
  ownerId: number;
  packageId: number;
  versionId: number;
  packageType: PackageType;
  name: string;
  version: string;
}

/** Changes of packages. They belong to the owner, whether or not the package is linked to a repository. */
export type PackageEvent =
  | (OfPackageVersion & { type: "package.created" })
  | (OfPackageVersion & { type: "package.deleted" });
