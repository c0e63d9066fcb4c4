import { z } from "@hono/zod-openapi";

import type { User as UserRow } from "../../db/schema/index.ts";
import { decodeText } from "../../git/byte-text.ts";
import type { Commit } from "../../git/object/commit.ts";
import type { Identity } from "../../git/object/identity.ts";
import type { Oid } from "../../git/oid.ts";
import { cutForJson, jsonBytes } from "../../lib/json-size.ts";
import type { CommitFile } from "./commit.ts";
import { Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import {
  PayloadCommitVerification,
  PayloadUser,
  toVerification,
  type Verification,
} from "./verification.ts";
import type { Viewer } from "../viewer.ts";
import { htmlUrlOf } from "../urls.ts";
import { formatGitTime } from "./git-time.ts";

export const PayloadCommit = z
  .object({
    id: z.string(),
    message: z.string(),
    url: z.string().openapi({ format: "uri" }),
    author: PayloadUser,
    committer: PayloadUser,
    verification: PayloadCommitVerification,
    timestamp: Time,
    added: z.array(z.string()).nullable(),
    removed: z.array(z.string()).nullable(),
    modified: z.array(z.string()).nullable(),
  })
  .openapi("PayloadCommit");

/** A commit with the accounts that have the e-mail addresses of its author and committer. */
export interface PayloadCommitEntry {
  readonly commitOid: Oid;
  readonly commit: Commit;
  readonly author: UserRow | undefined;
  readonly committer: UserRow | undefined;
  readonly verification: Verification;
}

/** Formats the head commit of a branch. The changed files are not listed. */
export function toPayloadCommit(
  repo: Pick<RepositoryContext, "row" | "owner">,
  entry: PayloadCommitEntry,
  viewer: Viewer,
): z.infer<typeof PayloadCommit> {
  return {
    ...toCommitFields(repo, entry, viewer),
    verification: toVerification(entry.verification),
    added: null,
    removed: null,
    modified: null,
  };
}

/**
 * A commit in a push payload: with its changed files, and without verification of its signature.
 */
export type PushedCommit = Omit<z.infer<typeof PayloadCommit>, "verification"> & {
  verification: null;
};

/** A pushed commit. `files` is undefined if it changes too many files. */
export type PushedCommitEntry = Omit<PayloadCommitEntry, "verification"> & {
  readonly files: readonly CommitFile[] | undefined;
};

/**
 * Maximum size of a message, and of a name or e-mail address, in a push payload, in bytes of JSON.
 */
const MESSAGE_BYTES_MAX = 64 * 1024;
const NAME_BYTES_MAX = 2 * 1024;
/** Maximum size of all paths in one payload together, in bytes of JSON. */
const PATHS_BYTES_MAX = 640 * 1024;

/**
 * Formats the commits of a push payload.
 *
 * The size is bounded: each commit takes less than 80 KB of JSON without its files, and the files
 * of all commits take less than 640 KiB. A commit whose files no longer fit lists none.
 *
 * @param entries More important commits first, as they use the budget for files first.
 */
export function toPushedCommits(
  repo: Pick<RepositoryContext, "row" | "owner">,
  entries: readonly PushedCommitEntry[],
  viewer: Viewer,
): PushedCommit[] {
  let bytesLeft = PATHS_BYTES_MAX;
  return entries.map((entry) => {
    const files = entry.files?.map(({ path, status }) => ({ name: decodeText(path), status }));
    const bytes = files?.reduce((sum, { name }) => sum + jsonBytes(name) + 1, 0) ?? 0;
    const hasFiles = bytes <= bytesLeft;
    if (hasFiles) bytesLeft -= bytes;
    return toPushedCommit(repo, entry, viewer, hasFiles ? files : undefined);
  });
}

interface NamedFile {
  readonly name: string;
  readonly status: CommitFile["status"];
}

function toPushedCommit(
  repo: Pick<RepositoryContext, "row" | "owner">,
  entry: PushedCommitEntry,
  viewer: Viewer,
  files: readonly NamedFile[] | undefined,
): PushedCommit {
  const { author, committer, ...fields } = toCommitFields(repo, entry, viewer);
  const list = (status: NamedFile["status"]): string[] | null =>
    files?.filter((file) => file.status === status).map(({ name }) => name) ?? null;
  return {
    ...fields,
    message: cutForJson(fields.message, MESSAGE_BYTES_MAX),
    author: cutUser(author),
    committer: cutUser(committer),
    verification: null,
    added: list("added"),
    removed: list("removed"),
    modified: list("modified"),
  };
}

const cutUser = ({ name, email, username }: z.infer<typeof PayloadUser>) => ({
  name: cutForJson(name, NAME_BYTES_MAX),
  email: cutForJson(email, NAME_BYTES_MAX),
  username,
});

const toCommitFields = (
  repo: Pick<RepositoryContext, "row" | "owner">,
  { commitOid, commit, author, committer }: Omit<PayloadCommitEntry, "verification">,
  viewer: Viewer,
) => ({
  id: commitOid,
  message: decodeText(commit.message),
  url: `${htmlUrlOf(repo, viewer)}/commit/${commitOid}`,
  author: toPayloadUser(commit.author, author),
  committer: toPayloadUser(commit.committer, committer),
  timestamp: formatGitTime(commit.author.timeSeconds),
});

const toPayloadUser = ({ name, email }: Identity, user: UserRow | undefined) => ({
  name: decodeText(name),
  email: decodeText(email),
  username: user?.name ?? "",
});
