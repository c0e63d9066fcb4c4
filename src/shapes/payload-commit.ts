import { z } from "@hono/zod-openapi";

import type { User as UserRow } from "../db/schema/index.ts";
import { decodeText } from "../git/byte-text.ts";
import type { Commit } from "../git/object/commit.ts";
import type { Identity } from "../git/object/identity.ts";
import type { Oid } from "../git/oid.ts";
import { formatTime } from "../lib/time.ts";
import { NEVER, Time } from "./json.ts";
import type { RepositoryEntry } from "./repository.ts";
import {
  PayloadCommitVerification,
  PayloadUser,
  toVerification,
  type Verification,
} from "./verification.ts";
import type { Viewer } from "./viewer.ts";

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
  { repo, owner }: Pick<RepositoryEntry, "repo" | "owner">,
  { commitOid, commit, author, committer, verification }: PayloadCommitEntry,
  viewer: Viewer,
): z.infer<typeof PayloadCommit> {
  return {
    id: commitOid,
    message: decodeText(commit.message),
    url: `${viewer.rootUrl}/${owner.name}/${repo.name}/commit/${commitOid}`,
    author: toPayloadUser(commit.author, author),
    committer: toPayloadUser(commit.committer, committer),
    verification: toVerification(verification),
    timestamp: formatGitTime(commit.author.timeSeconds),
    added: null,
    removed: null,
    modified: null,
  };
}

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
