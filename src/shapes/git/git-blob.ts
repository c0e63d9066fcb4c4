import { z } from "@hono/zod-openapi";

import type { Oid } from "../../git/oid.ts";
import { Int64 } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

export const GitBlobResponse = z
  .object({
    content: z.string().nullable().openapi({ description: "Null for blobs over 10 MiB" }),
    encoding: z.enum(["base64"]).nullable(),
    url: z.string().openapi({ format: "uri" }),
    sha: z.string(),
    size: Int64,
    lfs_oid: z.string().optional(),
    lfs_size: Int64.optional(),
  })
  .openapi("GitBlobResponse");

/** A blob with its encoded content, if it was read. */
export interface ReadBlob {
  oid: Oid;
  sizeBytes: number;
  encoding: "base64" | null;
  content: string | null;
  lfs: { oid: string; sizeBytes: number } | undefined;
}

export function toGitBlob(
  { oid, sizeBytes, encoding, content, lfs }: ReadBlob,
  repository: RepositoryContext,
  viewer: Viewer,
): z.infer<typeof GitBlobResponse> {
  return {
    content,
    encoding,
    url: `${apiUrlOf(repository, viewer)}/git/blobs/${oid}`,
    sha: oid,
    size: sizeBytes,
    ...(lfs && { lfs_oid: lfs.oid, lfs_size: lfs.sizeBytes }),
  };
}
