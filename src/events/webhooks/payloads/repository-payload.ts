import {
  type Repository,
  type RepositoryContext,
  toRepository,
} from "../../../shapes/repos/repository.ts";
import { toUser, type User } from "../../../shapes/users/user.ts";
import type { RepositoryPayload } from "../../../shapes/webhooks/repository-payload.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

export function toRepositoryPayload(
  { repo, sender, viewer }: PayloadContext,
  action: RepositoryPayload["action"],
  more: Pick<RepositoryPayload, "mirror" | "migration"> = {},
): RepositoryPayload {
  return {
    action,
    repository: toRepository(repo, viewer),
    organization: toUser(repo.owner, viewer),
    sender: toSender(sender, viewer),
    ...more,
  };
}

export interface ForkPayload {
  /** The repository that was forked. */
  forkee: Repository;
  /** The fork. */
  repository: Repository;
  sender: User;
}

/** The payload that the source repository's hooks receive for a fork. */
export function toForkPayload(
  { repo, sender, viewer }: PayloadContext,
  fork: RepositoryContext,
): ForkPayload {
  return {
    forkee: toRepository(repo, viewer),
    // The parent reveals no more than the forkee does.
    repository: toRepository({ ...fork, parent: repo }, viewer),
    sender: toSender(sender, viewer),
  };
}
