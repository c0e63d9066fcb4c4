import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** The payload of a webhook's `repository` event. */
export interface RepositoryPayload {
  action:
    | "created"
    | "deleted"
    | "archived"
    /** `expires_at` of the repository is near. */
    | "expiring"
    | "mirror_failed"
    | "mirror_recovered"
    | "migration_finished"
    | "migration_failed";
  repository: Repository;
  /** The owner, an organization or a user. */
  organization: User;
  sender: User;
  /** Present for actions about mirrors. */
  mirror?: MirrorPayload;
  /**
   * Present for actions about migrations: the reason of the failure, without credentials; "" if the
   * migration succeeded.
   */
  migration?: { reason: string };
}

/** A mirror that fails, or works again. */
interface MirrorPayload {
  /** The remote of a push mirror; null for a pull mirror. */
  remote_name: string | null;
  /** Without credentials; "" if it works. */
  reason: string;
  /** Null if it is not tried again by itself. */
  next_attempt_at: string | null;
  paused: boolean;
}
