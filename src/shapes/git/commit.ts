import { z } from "@hono/zod-openapi";

import type { User as UserRow } from "../../db/schema/index.ts";
import { type ByteText, decodeText } from "../../git/byte-text.ts";
import type { LineStat } from "../../git/diff/line-stat.ts";
import { type Commit as GitCommit, findHeader } from "../../git/object/commit.ts";
import type { Identity } from "../../git/object/identity.ts";
import type { Oid } from "../../git/oid.ts";
import { Int64, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { toUser, User } from "../users/user.ts";
import type { StatusSummary } from "./commit-status.ts";
import { formatGitTime, formatZonedGitTime } from "./git-time.ts";
import { PayloadCommitVerification, toVerification, type Verification } from "./verification.ts";
import type { Viewer } from "../viewer.ts";
import { apiUrlOf, htmlUrlOf } from "../urls.ts";

export const CommitUser = z
  .object({
    name: z.string(),
    email: z.string(),
    date: z.string().openapi({ description: "RFC 3339, for a commit in its recorded time zone" }),
  })
  .openapi("CommitUser");

export const CommitMeta = z
  .object({ url: z.string().openapi({ format: "uri" }), sha: z.string(), created: Time })
  .openapi("CommitMeta");

const CommitStats = z
  .object({ total: Int64, additions: Int64, deletions: Int64 })
  .openapi("CommitStats");

const CommitAffectedFiles = z
  .object({ filename: z.string(), status: z.enum(["added", "removed", "modified"]) })
  .openapi("CommitAffectedFiles");

const RepoCommit = z
  .object({
    url: z.string().openapi({ format: "uri" }),
    author: CommitUser,
    committer: CommitUser,
    message: z.string(),
    tree: CommitMeta,
    verification: PayloadCommitVerification.nullable().openapi({
      description: "Null if not requested",
    }),
  })
  .openapi("RepoCommit");

const UserOrNull = User.nullable().openapi({ description: "Null if no account has the address" });

export const Commit = z
  .object({
    url: z.string().openapi({ format: "uri" }),
    sha: z.string(),
    created: Time,
    html_url: z.string().openapi({ format: "uri" }),
    commit: RepoCommit,
    author: UserOrNull,
    committer: UserOrNull,
    parents: z.array(CommitMeta),
    files: z.array(CommitAffectedFiles).nullable().openapi({
      description:
        "Files that differ from the first parent. Null if not requested, or if the commit changes too many files",
    }),
    stats: CommitStats.nullable().openapi({
      description:
        "Lines that differ from the first parent. Null if not requested, or if the commit changes too many files",
    }),
  })
  .openapi("Commit");
export type Commit = z.infer<typeof Commit>;

/** How a commit changes one file. */
export interface CommitFile {
  readonly path: ByteText;
  readonly status: "added" | "removed" | "modified";
}

/** A commit with the requested details. */
export interface CommitEntry {
  readonly commitOid: Oid;
  readonly commit: GitCommit;
  readonly parents: readonly { readonly oid: Oid; readonly timeSeconds: number }[];
  /** The accounts with the e-mail addresses of author and committer. */
  readonly author: UserRow | undefined;
  readonly committer: UserRow | undefined;
  readonly verification: Verification | undefined;
  readonly files: readonly CommitFile[] | undefined;
  readonly stat: LineStat | undefined;
  /** The state of its checks; undefined without any, or if not requested. */
  readonly status?: StatusSummary | undefined;
}

/** Formats a commit for `viewer`. */
export function toCommit(
  repo: Pick<RepositoryContext, "row" | "owner">,
  entry: CommitEntry,
  viewer: Viewer,
): Commit {
  const { commitOid, commit, stat } = entry;
  const gitUrl = `${apiUrlOf(repo, viewer)}/git`;
  const url = `${gitUrl}/commits/${commitOid}`;
  const created = formatGitTime(commit.committer.timeSeconds);
  const decode = makeDecoder(commit);
  return {
    url,
    sha: commitOid,
    created,
    html_url: `${htmlUrlOf(repo, viewer)}/commit/${commitOid}`,
    commit: {
      url,
      author: toCommitUser(commit.author, decode),
      committer: toCommitUser(commit.committer, decode),
      message: decode(commit.message),
      tree: { url: `${gitUrl}/trees/${commit.treeOid}`, sha: commit.treeOid, created },
      verification: entry.verification ? toVerification(entry.verification) : null,
    },
    author: entry.author ? toUser(entry.author, viewer) : null,
    committer: entry.committer ? toUser(entry.committer, viewer) : null,
    parents: entry.parents.map(({ oid, timeSeconds }) => ({
      url: `${gitUrl}/commits/${oid}`,
      sha: oid,
      created: formatGitTime(timeSeconds),
    })),
    files: entry.files?.map(({ path, status }) => ({ filename: decodeText(path), status })) ?? null,
    stats: stat
      ? { total: stat.added + stat.removed, additions: stat.added, deletions: stat.removed }
      : null,
  };
}

export const toCommitUser = (
  { name, email, timeSeconds, zone }: Identity,
  decode: (text: ByteText) => string,
) => ({ name: decode(name), email: decode(email), date: formatZonedGitTime(timeSeconds, zone) });

/** A text of a commit, such as its message, in the encoding that the commit states. */
export const decodeCommitText = (commit: GitCommit, text: ByteText): string =>
  makeDecoder(commit)(text);

/**
 * Returns a decoder for the text of a commit: Latin-1 if its `encoding` header says so, else UTF-8.
 */
function makeDecoder({ headers }: GitCommit): (text: ByteText) => string {
  const encoding = findHeader(headers, "encoding") ?? "";
  return /^(?:iso-?8859-1|latin-?1)$/i.test(encoding) ? (text) => text : decodeText;
}
