import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** The payload of a webhook's `repository` event. */
export interface RepositoryPayload {
  action:
    | "created"
    | "deleted"
    | "mirror_failed"
    | "mirror_recovered"
    | "migration_finished"
    | "migration_failed";
  repository: Repository;
  /** The owner, an organization or a user. */
  organization: User;
  sender: User;
  /** Of the actions about mirrors. */
  mirror?: MirrorPayload;
  /**
   * Of the actions about migrations: why it failed, without credentials; "" if it came to its end.
   */
  migration?: { reason: string };
}

/** A mirror that fails, or works again. */
interface MirrorPayload {
  /** Of a push mirror; null for the mirror that the repository is. */
  remote_name: string | null;
  /** Without credentials; "" if it works. */
  reason: string;
  /** Null if it is not tried again by itself. */
  next_attempt_at: string | null;
  paused: boolean;
}
