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

const told = { commit: FileCommitResponse, verification: PayloadCommitVerification };

export const FileResponse = z
  .object({
    content: ContentsResponse.nullable().openapi({ description: "Null for a patch" }),
    ...told,
  })
  .openapi("FileResponse");

export const FilesResponse = z
  .object({
    files: z.array(ContentsResponse.nullable()).openapi({
      description: "What stands at the path of each operation now; null for nothing",
    }),
    ...told,
  })
  .openapi("FilesResponse");

export const FileDeleteResponse = z
  .object({ content: z.object({}).nullable().openapi({ description: "Always null" }), ...told })
  .openapi("FileDeleteResponse");

/** A commit that was made for somebody, with what is known of its signature. */
export function toMadeCommit(
  repo: Pick<RepositoryContext, "row" | "owner">,
  made: Pick<CommitEntry, "commitOid" | "commit" | "parents"> & { verification: Verification },
  viewer: Viewer,
): { [Key in keyof typeof told]: z.infer<(typeof told)[Key]> } {
  const isNotAsked = { author: undefined, committer: undefined, files: undefined, stat: undefined };
  const whole = toCommit(repo, { ...made, ...isNotAsked }, viewer);
  const { url, sha, created, html_url, parents } = whole;
  const { author, committer, message, tree } = whole.commit;
  return {
    commit: { url, sha, created, html_url, author, committer, parents, message, tree },
    verification: toVerification(made.verification),
  };
}
