import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { packageFiles, packageVersions } from "../../db/schema/index.ts";
import { type FileOfVersion, selectFiles } from "../packages/find-file.ts";
import type { PackageContext } from "../packages/find-package.ts";
import { type Digest, findContent } from "./image.ts";
import { ManifestFacts } from "./manifest.ts";

/** What names a manifest of an image. */
export type Reference =
  | { readonly tag: string; readonly digest?: undefined }
  | { readonly digest: Digest; readonly tag?: undefined };

/** A manifest of an image, with what it says of itself. */
export interface FoundManifest {
  readonly content: FileOfVersion;
  readonly facts: ManifestFacts;
}

/** Finds a manifest by its tag or digest. */
export async function findManifest(
  ctx: Ctx,
  pkg: PackageContext,
  { tag, digest }: Reference,
): Promise<FoundManifest | undefined> {
  const content =
    tag === undefined
      ? await findContent(ctx, pkg, digest, "manifest")
      : await findTagged(ctx, pkg, tag);
  return content && { content, facts: ManifestFacts.parse(content.file.metadata) };
}

async function findTagged(
  { db }: Ctx,
  { row }: PackageContext,
  tag: string,
): Promise<FileOfVersion | undefined> {
  const [found] = await selectFiles(db).where(
    and(
      eq(packageVersions.packageId, row.id),
      eq(packageVersions.versionKey, tag),
      eq(packageVersions.isInternal, false),
      eq(packageFiles.isLead, true),
    ),
  );
  return found;
}
