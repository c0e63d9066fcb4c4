import type { CommitState, CommitStatus as CommitStatusRow } from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import { only } from "../../../lib/only.ts";
import { formatTime } from "../../../lib/time.ts";
import {
  type PushedCommit,
  type PushedCommitEntry,
  toPushedCommits,
} from "../../../shapes/git/payload-commit.ts";
import { type Repository, toRepository } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../shapes/users/user.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

export interface StatusPayload {
  commit: PushedCommit;
  context: string;
  created_at: string;
  description: string;
  /** Unique among all statuses of the service. */
  id: number;
  repository: Repository;
  sender: User;
  sha: Oid;
  state: CommitState;
  target_url: string;
  updated_at: string;
}

/** The payload for a commit status. */
export function toStatusPayload(
  { repo, sender, viewer }: PayloadContext,
  status: CommitStatusRow,
  commit: PushedCommitEntry,
): StatusPayload {
  const createdAt = formatTime(status.createdAt);
  const payloadCommit = only(toPushedCommits(repo, [commit], viewer));
  return {
    commit: payloadCommit,
    context: status.context,
    created_at: createdAt,
    description: status.description,
    id: status.id,
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
    sha: status.commitOid,
    state: status.state,
    target_url: status.targetUrl,
    updated_at: createdAt,
  };
}
