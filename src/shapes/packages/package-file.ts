import { z } from "@hono/zod-openapi";

import type { PackageBlob, PackageFile } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";

export const PackageFileShape = z
  .object({
    id: Int64,
    size: Int64.openapi({ description: "In bytes" }),
    name: z.string(),
    md5: z.string(),
    sha1: z.string(),
    sha256: z.string(),
    sha512: z.string(),
  })
  .openapi("PackageFile");

/** A file of a version with its content, as queries return it. */
export interface PackageFileEntry
  extends
    Pick<PackageFile, "id" | "name">,
    Pick<PackageBlob, "sizeBytes" | "md5" | "sha1" | "sha256" | "sha512"> {}

export const toPackageFile = ({
  id,
  name,
  sizeBytes,
  md5,
  sha1,
  sha256,
  sha512,
}: PackageFileEntry): z.infer<typeof PackageFileShape> => ({
  id,
  size: sizeBytes,
  name,
  md5,
  sha1,
  sha256,
  sha512,
});
