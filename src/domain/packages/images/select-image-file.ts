import { type SQL, sql } from "drizzle-orm";

import { packageFiles, packages, packageVersions } from "../../../db/schema/index.ts";
import { preparePackageFile } from "../package/find-file.ts";
import { contentIdOf, type Digest, hexOf } from "./image.ts";

/** A reference to a manifest of an image. */
export type Reference =
  | { readonly tag: string; readonly digest?: undefined }
  | { readonly digest: Digest; readonly tag?: undefined };

/** A tag, or the hash of a content; without either no file. */
interface ContentArgument {
  readonly tag?: string;
  readonly hex?: string;
}

/** The argument that selects a manifest; undefined selects none. */
export const manifestArgument = (reference: Reference | undefined): ContentArgument =>
  reference?.tag === undefined ? contentArgument(reference?.digest) : { tag: reference.tag };

/** The argument that selects a content; undefined selects none. */
export const contentArgument = (digest: Digest | undefined): ContentArgument =>
  digest === undefined ? {} : { hex: hexOf(digest) };

/** Selects an image with the file of a manifest. */
export const selectImageWithManifest = preparePackageFile<ContentArgument>(({ tag, hex }) =>
  tag ? idOfTagged(tag) : hex ? contentIdOf(hex, "manifest") : NO_FILE,
);

/** Selects an image with a file of a blob. */
export const selectImageWithBlob = preparePackageFile<ContentArgument>(({ hex }) =>
  hex ? contentIdOf(hex, "blob") : NO_FILE,
);

const NO_FILE = sql`null`;

/** The id of the file of a manifest of the image that the query around this selects, by its tag. */
const idOfTagged = (tag: SQL): SQL => sql`(
  select ${packageFiles.id}
  from ${packageVersions}
  cross join ${packageFiles}
  where ${packageVersions.packageId} = ${packages.id}
    and ${packageVersions.versionKey} = ${tag}
    and ${packageVersions.isInternal} = 0
    and ${packageFiles.versionId} = ${packageVersions.id}
    and ${packageFiles.isLead} = 1
  limit 1
)`;
