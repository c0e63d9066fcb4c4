import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** The payload of a webhook's `repository` event. */
export interface RepositoryPayload {
  action: "created" | "deleted";
  repository: Repository;
  /** The owner, an organization or a user. */
  organization: User;
  sender: User;
}
