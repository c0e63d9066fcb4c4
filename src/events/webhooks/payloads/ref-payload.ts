import { NULL_OID, type Oid } from "../../../git/oid.ts";
import { type Repository, toRepository } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../shapes/users/user.ts";
import { kindOfRef, type RefChange, shortRef } from "./webhook-event.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

export interface CreatePayload {
  sha: Oid;
  /** Short name. */
  ref: string;
  ref_type: "branch" | "tag";
  repository: Repository;
  sender: User;
}

/** The payload for a new branch or tag. */
export function toCreatePayload(
  { repo, sender, viewer }: PayloadContext,
  { ref, after }: RefChange,
): CreatePayload {
  return {
    sha: after ?? NULL_OID,
    ref: shortRef(ref),
    ref_type: kindOfRef(ref) ?? "branch",
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
  };
}

export interface DeletePayload {
  /** Short name. */
  ref: string;
  ref_type: "branch" | "tag";
  pusher_type: "user";
  repository: Repository;
  sender: User;
}

/** The payload for a deleted branch or tag. */
export function toDeletePayload(
  { repo, sender, viewer }: PayloadContext,
  { ref }: RefChange,
): DeletePayload {
  return {
    ref: shortRef(ref),
    ref_type: kindOfRef(ref) ?? "branch",
    pusher_type: "user",
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
  };
}
