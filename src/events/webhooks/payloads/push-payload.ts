import { NULL_OID, type Oid } from "../../../git/oid.ts";
import {
  type PushedCommit,
  type PushedCommitEntry,
  toPushedCommits,
} from "../../../shapes/git/payload-commit.ts";
import { type Repository, toRepository } from "../../../shapes/repos/repository.ts";
import { encodePath, htmlUrlOf } from "../../../shapes/urls.ts";
import type { User } from "../../../shapes/users/user.ts";
import { kindOfRef, type RefChange, shortRef } from "./webhook-event.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

/** Commits that a push lists; `total_commits` counts the others too. */
export const LISTED_COMMITS_MAX = 5;

export interface PushPayload {
  /** Full name. */
  ref: string;
  before: Oid;
  after: Oid;
  compare_url: string;
  commits: PushedCommit[];
  total_commits: number;
  head_commit: PushedCommit | null;
  repository: Repository;
  pusher: User;
  sender: User;
}

/** What a push brought to one ref. A tag brings no commits. */
export interface Pushed extends RefChange {
  /** Newest first; those after the first 5 are not listed. */
  readonly commits: readonly PushedCommitEntry[];
  /** How many commits are new on the branch. */
  readonly total: number;
  /** What the ref leads to; undefined where it is gone, or leads to no commit. */
  readonly head: PushedCommitEntry | undefined;
  /** Of a new branch: the parent of the oldest commit that is new on it. */
  readonly baseOid?: Oid | undefined;
}

export function toPushPayload(
  { where, sender, viewer }: PayloadContext,
  { ref, before, after, commits, total, head, baseOid }: Pushed,
): PushPayload {
  const from = before ?? baseOid ?? findBase(where.row.defaultBranch, ref);
  const range = `${encodePath(from ?? "")}...${after ?? ""}`;
  const isComparable = from !== undefined && after !== null;
  const pusher = toSender(sender, viewer);
  const listed = commits.slice(0, LISTED_COMMITS_MAX);
  // The head comes first where there is not room for the files of all.
  const told = toPushedCommits(where, head ? [head, ...listed] : listed, viewer);
  const headCommit = head ? told.shift() : undefined;
  return {
    ref,
    before: before ?? NULL_OID,
    after: after ?? NULL_OID,
    compare_url: isComparable
      ? `${htmlUrlOf(where, viewer)}/compare/${range}`
      : `${viewer.rootUrl}/`,
    commits: told,
    total_commits: total,
    head_commit: headCommit ?? null,
    repository: toRepository(where, viewer),
    pusher,
    sender: pusher,
  };
}

/** What a ref that begins with the history is compared with; a default branch with nothing. */
function findBase(defaultBranch: string, ref: string): string | undefined {
  if (kindOfRef(ref) === "tag") return NULL_OID;
  return shortRef(ref) === defaultBranch ? undefined : defaultBranch;
}
