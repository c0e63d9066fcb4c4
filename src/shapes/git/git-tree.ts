import { z } from "@hono/zod-openapi";

import { isSubmoduleMode, isTreeMode } from "../../git/object/tree.ts";
import type { Oid } from "../../git/oid.ts";
import { Int64 } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

export const GitEntry = z
  .object({
    path: z.string(),
    mode: z.string().openapi({ example: "100644" }),
    type: z.enum(["blob", "tree", "commit"]),
    size: Int64,
    sha: z.string(),
    url: z.string(),
  })
  .openapi("GitEntry");

export const GitTreeResponse = z
  .object({
    sha: z.string(),
    url: z.string().openapi({ format: "uri" }),
    tree: z.array(GitEntry),
    truncated: z.boolean(),
    page: Int64,
    total_count: Int64,
  })
  .openapi("GitTreeResponse");

/** A tree entry with its path and size. */
export interface TreeItem {
  path: string;
  entry: { mode: number; oid: Oid };
  sizeBytes: number;
}

/** Formats a tree entry. A submodule has no URL, since its commit is in another repository. */
export function toGitEntry(
  { path, entry: { mode, oid }, sizeBytes }: TreeItem,
  repository: RepositoryContext,
  viewer: Viewer,
): z.infer<typeof GitEntry> {
  const type = isTreeMode(mode) ? "tree" : isSubmoduleMode(mode) ? "commit" : "blob";
  return {
    path,
    mode: mode.toString(8).padStart(6, "0"),
    type,
    size: sizeBytes,
    sha: oid,
    url: type === "commit" ? "" : `${apiUrlOf(repository, viewer)}/git/${type}s/${oid}`,
  };
}
