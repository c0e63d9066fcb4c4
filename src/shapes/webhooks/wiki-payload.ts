import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** The payload of the webhook event `wiki`. */
export interface WikiPayload {
  action: "created" | "edited" | "deleted";
  repository: Repository;
  sender: User;
  /** The address of the page below that of the wiki. */
  page: string;
  /** The message of the commit. */
  comment: string;
}
