import { malformed } from "../../lib/failure.ts";
import { nugetVersionKey, type NugetVersion, parseNugetVersion } from "./nuget-version.ts";

const ID = /^[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*$/;
const ID_LENGTH_MAX = 100;

/**
 * Whether a text is the id of a package, as NuGet.org takes them. Ids are compared without regard
 * to case.
 */
export const isPackageId = (text: string): boolean => text.length <= ID_LENGTH_MAX && ID.test(text);

/** @throws Failure `malformed` */
export function requirePackageId(id: string): string {
  if (isPackageId(id)) return id;
  throw malformed("the id of a package has letters, digits and _, with single . and - between");
}

/** @throws Failure `malformed` */
export function requireNugetVersion(text: string): NugetVersion {
  const version = parseNugetVersion(text);
  if (version) return version;
  throw malformed("the version is not one of NuGet's form 1.2.3-label");
}

/** The key of the file of a package. */
export const nupkgKey = (id: string, version: NugetVersion): string =>
  `${id.toLowerCase()}.${nugetVersionKey(version)}.nupkg`;

/** The key of the file of the symbols of a package. */
export const snupkgKey = (id: string, version: NugetVersion): string =>
  `${id.toLowerCase()}.${nugetVersionKey(version)}.snupkg`;

/** The key of the manifest of a package. */
export const manifestKey = (id: string): string => `${id.toLowerCase()}.nuspec`;
