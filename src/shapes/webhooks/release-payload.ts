import type { Release } from "../releases/release.ts";
import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** The payload of the webhook event `release`. */
export interface ReleasePayload {
  action: "published" | "updated" | "deleted";
  release: Release;
  repository: Repository;
  sender: User;
}
