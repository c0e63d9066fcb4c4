import { type SQL, sql } from "drizzle-orm";

import { packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import { contentIdOf, type Digest } from "./image.ts";

/** What names a manifest of an image. */
export type Reference =
  | { readonly tag: string; readonly digest?: undefined }
  | { readonly digest: Digest; readonly tag?: undefined };

/** The id of the file of a manifest of the image that the query around this selects. Null if there is none. */
export const manifestIdOf = ({ tag, digest }: Reference): SQL =>
  tag === undefined
    ? contentIdOf(digest, "manifest")
    : sql`(
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
