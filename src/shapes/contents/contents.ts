import { z } from "@hono/zod-openapi";

import { isSubmoduleMode, isSymlinkMode, isTreeMode } from "../../git/object/tree.ts";
import type { Oid } from "../../git/oid.ts";
import { formatGitTime } from "../git/git-time.ts";
import { Int64, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf, encodePath, htmlUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

const Url = z.string().openapi({ format: "uri" });

const FileLinksResponse = z
  .object({ self: Url, git: Url.nullable(), html: Url.nullable() })
  .openapi("FileLinksResponse");

export const ContentsResponse = z
  .object({
    name: z.string(),
    path: z.string(),
    sha: z.string(),
    last_commit_sha: z.string().optional(),
    last_committer_date: Time.optional(),
    last_author_date: Time.optional(),
    last_commit_message: z.string().optional(),
    type: z.enum(["file", "dir", "symlink", "submodule"]),
    size: Int64,
    encoding: z.enum(["base64"]).nullable(),
    content: z.string().nullable().openapi({
      description:
        "Base64 content of a file up to 10 MiB; null for larger files and in directory listings",
    }),
    target: z.string().nullable().openapi({ description: "The target of a symlink" }),
    url: Url,
    html_url: Url.nullable(),
    git_url: Url.nullable(),
    download_url: Url.nullable(),
    submodule_git_url: z.string().nullable(),
    _links: FileLinksResponse,
    lfs_oid: z.string().optional(),
    lfs_size: Int64.optional(),
  })
  .openapi("ContentsResponse");

export const ContentsExtResponse = z
  .object({
    file_contents: ContentsResponse.optional(),
    dir_contents: z.array(ContentsResponse).optional(),
  })
  .openapi("ContentsExtResponse");

/** An entry at a path, with the content that was read. */
export interface ContentItem {
  path: string;
  mode: number;
  oid: Oid;
  /** 0 where it was not read, and for what is no file. */
  sizeBytes: number;
  encoding: "base64" | null;
  content: string | null;
  target: string | null;
  submoduleUrl: string | null;
  lfs: { oid: string; sizeBytes: number } | undefined;
  lastCommit: LastCommit | undefined;
}

/** The commit that last changed a path. Times are in seconds. */
export interface LastCommit {
  oid: Oid;
  committerSeconds: number;
  authorSeconds: number;
  /** Undefined unless requested. */
  message: string | undefined;
}

/** The repository, and the branch, tag or commit, at which contents are read. */
export interface ContentRef {
  repository: RepositoryContext;
  kind: "branch" | "tag" | "commit";
  name: string;
}

/** Formats the entry at a path for `viewer`. */
export function toContents(
  item: ContentItem,
  { repository, kind, name }: ContentRef,
  viewer: Viewer,
): z.infer<typeof ContentsResponse> {
  const { path, mode, oid, lfs } = item;
  const type = typeOf(mode);
  const isInRepository = type !== "submodule";
  const isBlob = type === "file" || type === "symlink";
  const [api, html] = [apiUrlOf(repository, viewer), htmlUrlOf(repository, viewer)];
  const refPath = `${kind}/${encodePath(name)}/${encodePath(path)}`;
  const url = `${api}/contents/${encodePath(path)}?ref=${encodeURIComponent(name)}`;
  const gitUrl = isInRepository ? `${api}/git/${isBlob ? "blobs" : "trees"}/${oid}` : null;
  const htmlUrl = isInRepository ? `${html}/src/${refPath}` : null;
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    sha: oid,
    ...lastCommitFields(item.lastCommit),
    type,
    size: item.sizeBytes,
    encoding: item.encoding,
    content: item.content,
    target: item.target,
    url,
    html_url: htmlUrl,
    git_url: gitUrl,
    download_url: isBlob ? `${html}/raw/${refPath}` : null,
    submodule_git_url: item.submoduleUrl,
    _links: { self: url, git: gitUrl, html: htmlUrl },
    ...(lfs && { lfs_oid: lfs.oid, lfs_size: lfs.sizeBytes }),
  };
}

function typeOf(mode: number): "file" | "dir" | "symlink" | "submodule" {
  if (isTreeMode(mode)) return "dir";
  if (isSubmoduleMode(mode)) return "submodule";
  return isSymlinkMode(mode) ? "symlink" : "file";
}

const lastCommitFields = (commit: LastCommit | undefined) =>
  commit && {
    last_commit_sha: commit.oid,
    last_committer_date: formatGitTime(commit.committerSeconds),
    last_author_date: formatGitTime(commit.authorSeconds),
    ...(commit.message !== undefined && { last_commit_message: commit.message }),
  };
