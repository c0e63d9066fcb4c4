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
  { where, sender, viewer }: PayloadContext,
  action: RepositoryPayload["action"],
): RepositoryPayload {
  return {
    action,
    repository: toRepository(where, viewer),
    organization: toUser(where.owner, viewer),
    sender: toSender(sender, viewer),
  };
}

export interface ForkPayload {
  /** What was forked. */
  forkee: Repository;
  /** The fork. */
  repository: Repository;
  sender: User;
}

/** What the hooks of a repository are told of a fork of it. */
export function toForkPayload(
  { where, sender, viewer }: PayloadContext,
  fork: RepositoryContext,
): ForkPayload {
  return {
    forkee: toRepository(where, viewer),
    repository: toRepository(fork, viewer),
    sender: toSender(sender, viewer),
  };
}
