import type { KeptUpdate } from "../shapes/events/activity.ts";
import type { RepositoryPayload } from "./webhooks/payloads/repository-payload.ts";

/** Everything that happens and is worth telling. A new kind is one variant here and one payload. */
export type Event =
  | { type: "repository.created"; repoId: number; ownerId: number; name: string }
  | { type: "repository.forked"; repoId: number; ownerId: number; parentId: number }
  | { type: "repository.edited"; repoId: number; ownerId: number; changed: string[] }
  | { type: "repository.renamed"; repoId: number; ownerId: number; from: string; to: string }
  | {
      type: "repository.visibility_changed";
      repoId: number;
      ownerId: number;
      isPrivate: boolean;
    }
  | {
      type: "repository.deleted";
      repoId: number;
      ownerId: number;
      name: string;
      /** What hooks are told: nothing is left to read it from. It is dropped once they were. */
      lastPayload: RepositoryPayload;
    }
  | {
      type: "repository.pushed";
      repoId: number;
      ownerId: number;
      pushId: string;
      /** A push of very many refs makes several events, numbered from 0. */
      part: number;
      /** Refs that were moved, by all events of the push. */
      refCount: number;
      /** Where commits are known, the latest that came to a branch, and how many came. */
      updates: KeptUpdate[];
    }
  | {
      type: "commit_status.created";
      repoId: number;
      ownerId: number;
      commitOid: string;
      /** Of all statuses of the commit. */
      number: number;
      state: string;
      context: string;
    }
  | { type: "repository.topics_changed"; repoId: number; ownerId: number }
  | { type: "lfs_lock.created" | "lfs_lock.deleted"; repoId: number; ownerId: number; path: string }
  | {
      /** Redelivered: some of its deliveries are sent once more. Paused: the service gave it up. */
      type: "hook.created" | "hook.edited" | "hook.deleted" | "hook.redelivered" | "hook.paused";
      /** 0 for the hooks of the service. */
      ownerId: number;
      repoId?: number;
      hookId: number;
    }
  | {
      /** Somebody asks for a sample delivery to this hook alone. */
      type: "hook.tested";
      repoId: number;
      ownerId: number;
      hookId: number;
      /** Full name of the branch or tag, or the commit's id where neither was named. */
      ref: string;
      commitOid: string;
    }
  | { type: "star.created" | "star.deleted"; repoId: number; ownerId: number }
  | { type: "watch.created" | "watch.deleted"; repoId: number; ownerId: number }
  | { type: "follow.created" | "follow.deleted"; ownerId: number }
  | { type: "user.created"; ownerId: number; name: string }
  | { type: "user.edited"; ownerId: number; changed: string[] }
  | { type: "user.renamed"; ownerId: number; from: string; to: string }
  | { type: "organization.created"; ownerId: number; name: string }
  | {
      type: "organization.member_added" | "organization.member_removed";
      ownerId: number;
      userId: number;
      teamId: number;
    }
  | { type: "organization.member_visibility_changed"; ownerId: number; isPublic: boolean }
  | { type: "email.added" | "email.removed"; ownerId: number }
  | { type: "access_token.created" | "access_token.deleted"; ownerId: number; name: string }
  | {
      type: "public_key.added" | "public_key.removed";
      ownerId: number;
      repoId?: number;
      fingerprint: string;
    }
  | {
      type: "gpg_key.added" | "gpg_key.verified" | "gpg_key.removed";
      ownerId: number;
      keyId: string;
    };
