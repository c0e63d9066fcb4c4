import { z } from "@hono/zod-openapi";

import type { User as UserRow } from "../../db/schema/index.ts";
import { decodeText } from "../../git/byte-text.ts";
import type { Commit } from "../../git/object/commit.ts";
import type { Identity } from "../../git/object/identity.ts";
import type { Oid } from "../../git/oid.ts";
import { cutForJson, jsonBytes } from "../../lib/json-size.ts";
import { formatTime } from "../../lib/time.ts";
import type { CommitFile } from "./commit.ts";
import { NEVER, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import {
  PayloadCommitVerification,
  PayloadUser,
  toVerification,
  type Verification,
} from "./verification.ts";
import type { Viewer } from "../viewer.ts";
import { htmlUrlOf } from "../urls.ts";

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

/** A commit as it is read for a branch, with the accounts that its addresses belong to. */
export interface PayloadCommitEntry {
  readonly commitOid: Oid;
  readonly commit: Commit;
  readonly author: UserRow | undefined;
  readonly committer: UserRow | undefined;
  readonly verification: Verification;
}

/** What leads to a commit as events show it: which files it changes is not told. */
export function toPayloadCommit(
  where: Pick<RepositoryContext, "row" | "owner">,
  entry: PayloadCommitEntry,
  viewer: Viewer,
): z.infer<typeof PayloadCommit> {
  return {
    ...toCommitFields(where, entry, viewer),
    verification: toVerification(entry.verification),
    added: null,
    removed: null,
    modified: null,
  };
}

/** A commit as a push tells it: with the files it changes, and without a word on its signature. */
export type PushedCommit = Omit<z.infer<typeof PayloadCommit>, "verification"> & {
  verification: null;
};

/** A commit that was pushed; its files are undefined where it changes too many. */
export type PushedCommitEntry = Omit<PayloadCommitEntry, "verification"> & {
  readonly files: readonly CommitFile[] | undefined;
};

/** Bytes of a message as JSON, and of a name or an address, that a push tells. */
const MESSAGE_BYTES_MAX = 64 * 1024;
const NAME_BYTES_MAX = 2 * 1024;
/** Bytes of all paths together, as JSON, that the commits of one payload tell. */
const PATHS_BYTES_MAX = 640 * 1024;

/**
 * Commits as those see them who are told of them, the more important ones first. All of them together
 * are bounded: each takes less than 80 KB as JSON beside its files, and the files of all less than
 * 640 KiB. A commit whose files don't fit any more tells none.
 */
export function toPushedCommits(
  where: Pick<RepositoryContext, "row" | "owner">,
  entries: readonly PushedCommitEntry[],
  viewer: Viewer,
): PushedCommit[] {
  let bytesLeft = PATHS_BYTES_MAX;
  return entries.map((entry) => {
    const files = entry.files?.map(({ path, status }) => ({ name: decodeText(path), status }));
    const bytes = files?.reduce((sum, { name }) => sum + jsonBytes(name) + 1, 0) ?? 0;
    const isListed = bytes <= bytesLeft;
    if (isListed) bytesLeft -= bytes;
    return toPushedCommit(where, entry, viewer, isListed ? files : undefined);
  });
}

interface NamedFile {
  readonly name: string;
  readonly status: CommitFile["status"];
}

function toPushedCommit(
  where: Pick<RepositoryContext, "row" | "owner">,
  entry: PushedCommitEntry,
  viewer: Viewer,
  files: readonly NamedFile[] | undefined,
): PushedCommit {
  const { author, committer, ...fields } = toCommitFields(where, entry, viewer);
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
  where: Pick<RepositoryContext, "row" | "owner">,
  { commitOid, commit, author, committer }: Omit<PayloadCommitEntry, "verification">,
  viewer: Viewer,
) => ({
  id: commitOid,
  message: decodeText(commit.message),
  url: `${htmlUrlOf(where, viewer)}/commit/${commitOid}`,
  author: toPayloadUser(commit.author, author),
  committer: toPayloadUser(commit.committer, committer),
  timestamp: formatGitTime(commit.author.timeSeconds),
});

const toPayloadUser = ({ name, email }: Identity, user: UserRow | undefined) => ({
  name: decodeText(name),
  email: decodeText(email),
  username: user?.name ?? "",
});

/** The last second that a year of four digits has. */
const SECONDS_MAX = 253_402_300_799;

/** A moment of an identity, in UTC. One that no calendar has never was. */
export const formatGitTime = (seconds: number): string =>
  seconds <= SECONDS_MAX ? formatTime(seconds * 1000) : NEVER;
