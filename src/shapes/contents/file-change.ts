import { z } from "@hono/zod-openapi";

import { type CommitEntry, CommitMeta, CommitUser, toCommit } from "../git/commit.ts";
import { ContentsResponse } from "./contents.ts";
import { Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import {
  PayloadCommitVerification,
  toVerification,
  type Verification,
} from "../git/verification.ts";
import type { Viewer } from "../viewer.ts";

const FileCommitResponse = z
  .object({
    url: z.string().openapi({ format: "uri" }),
    sha: z.string(),
    created: Time,
    html_url: z.string().openapi({ format: "uri" }),
    author: CommitUser,
    committer: CommitUser,
    parents: z.array(CommitMeta),
    message: z.string(),
    tree: CommitMeta,
  })
  .openapi("FileCommitResponse");

const commitFields = { commit: FileCommitResponse, verification: PayloadCommitVerification };

export const FileResponse = z
  .object({
    content: ContentsResponse.nullable().openapi({ description: "Null for a patch" }),
    ...commitFields,
  })
  .openapi("FileResponse");

export const FilesResponse = z
  .object({
    files: z.array(ContentsResponse.nullable()).openapi({
      description:
        "The entry at the path of each operation after the commit; null if there is none",
    }),
    ...commitFields,
  })
  .openapi("FilesResponse");

export const FileDeleteResponse = z
  .object({
    content: z.object({}).nullable().openapi({ description: "Always null" }),
    ...commitFields,
  })
  .openapi("FileDeleteResponse");

/** Formats a commit created through the API, with the verification of its signature. */
export function toCreatedCommit(
  repo: Pick<RepositoryContext, "row" | "owner">,
  entry: Pick<CommitEntry, "commitOid" | "commit" | "parents"> & { verification: Verification },
  viewer: Viewer,
): { [Key in keyof typeof commitFields]: z.infer<(typeof commitFields)[Key]> } {
  const omitted = { author: undefined, committer: undefined, files: undefined, stat: undefined };
  const commit = toCommit(repo, { ...entry, ...omitted }, viewer);
  const { url, sha, created, html_url, parents } = commit;
  const { author, committer, message, tree } = commit.commit;
  return {
    commit: { url, sha, created, html_url, author, committer, parents, message, tree },
    verification: toVerification(entry.verification),
  };
}
