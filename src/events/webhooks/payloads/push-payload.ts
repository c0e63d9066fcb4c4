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

/** Commits listed in a push; `total_commits` counts the remaining ones as well. */
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

/** The effect of a push on one ref. For a tag it has no commits. */
export interface Pushed extends RefChange {
  /** Newest first; only the first 5 are listed. */
  readonly commits: readonly PushedCommitEntry[];
  /** The number of commits that are new on the branch. */
  readonly total: number;
  /** The commit at the tip of the ref; undefined if the ref was deleted or points to no commit. */
  readonly head: PushedCommitEntry | undefined;
  /** For a new branch: the parent of the oldest commit that is new on it. */
  readonly baseOid?: Oid | undefined;
}

export function toPushPayload(
  { repo, sender, viewer }: PayloadContext,
  { ref, before, after, commits, total, head, baseOid }: Pushed,
): PushPayload {
  const from = before ?? baseOid ?? findBase(repo.row.defaultBranch, ref);
  const range = `${encodePath(from ?? "")}...${after ?? ""}`;
  const isComparable = from !== undefined && after !== null;
  const pusher = toSender(sender, viewer);
  const listed = commits.slice(0, LISTED_COMMITS_MAX);
  // The head comes first, so that it keeps its files if the limit does not allow the files of all
  // commits.
  const payloadCommits = toPushedCommits(repo, head ? [head, ...listed] : listed, viewer);
  const headCommit = head ? payloadCommits.shift() : undefined;
  return {
    ref,
    before: before ?? NULL_OID,
    after: after ?? NULL_OID,
    compare_url: isComparable
      ? `${htmlUrlOf(repo, viewer)}/compare/${range}`
      : `${viewer.rootUrl}/`,
    commits: payloadCommits,
    total_commits: total,
    head_commit: headCommit ?? null,
    repository: toRepository(repo, viewer),
    pusher,
    sender: pusher,
  };
}

/**
 * The base of the comparison for a ref without known history: the default branch, or nothing for
 * the default branch itself.
 */
function findBase(defaultBranch: string, ref: string): string | undefined {
  if (kindOfRef(ref) === "tag") return NULL_OID;
  return shortRef(ref) === defaultBranch ? undefined : defaultBranch;
}
