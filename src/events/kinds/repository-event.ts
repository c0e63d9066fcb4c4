import type { RepositoryExpiry } from "../../db/schema/index.ts";
import type { StoredUpdate } from "../../shapes/events/activity.ts";
import type { RepositoryPayload } from "../../shapes/webhooks/repository-payload.ts";

/** Changes of a repository, and pushes to it. */
export type RepositoryEvent =
  | { type: "repository.created"; repoId: number; ownerId: number; name: string }
  /** A migration to this service has come to its end, or can't go on by itself. */
  | { type: "migration.finished"; repoId: number; ownerId: number }
  | {
      type: "migration.failed";
      repoId: number;
      ownerId: number;
      /** Without credentials. */
      reason: string;
    }
  | { type: "repository.forked"; repoId: number; ownerId: number; parentId: number }
  | { type: "repository.edited"; repoId: number; ownerId: number; changed: string[] }
  | { type: "repository.renamed"; repoId: number; ownerId: number; from: string; to: string }
  | { type: "repository.visibility_changed"; repoId: number; ownerId: number; isPrivate: boolean }
  | {
      type: "repository.transferred";
      repoId: number;
      /** The new owner. */
      ownerId: number;
      /** The owner before. Undefined in events that are older than the field. */
      formerOwnerId?: number;
      /** Full names. */
      from: string;
      to: string;
    }
  | {
      type:
        | "repository.transfer_started"
        | "repository.transfer_cancelled"
        | "repository.transfer_rejected";
      repoId: number;
      ownerId: number;
      /** The user or organization to whom it is offered. */
      recipientId: number;
    }
  | {
      type: "collaborator.added" | "collaborator.edited";
      repoId: number;
      ownerId: number;
      userId: number;
      permission: "read" | "write" | "admin";
    }
  | { type: "collaborator.removed"; repoId: number; ownerId: number; userId: number }
  | { type: "repository.archived"; repoId: number; ownerId: number }
  | {
      /** It ends soon. */
      type: "repository.expiring";
      repoId: number;
      ownerId: number;
      /** In milliseconds. */
      expiresAt: number;
      action: RepositoryExpiry["action"];
    }
  | { type: "repository.topics_changed"; repoId: number; ownerId: number }
  /** A mirror becomes an ordinary repository. */
  | { type: "repository.mirror_ended"; repoId: number; ownerId: number }
  | {
      type: "push_mirror.added" | "push_mirror.removed";
      repoId: number;
      ownerId: number;
      remoteName: string;
    }
  | {
      /** Its first failure after a success, and its pause. */
      type: "mirror.failed";
      repoId: number;
      ownerId: number;
      /** The remote of a push mirror; undefined for a pull mirror. */
      remoteName?: string;
      /** Without credentials. */
      reason: string;
      /** When it is tried again, in milliseconds; null for not by itself. */
      nextAt: number | null;
      isPaused: boolean;
    }
  | { type: "mirror.recovered"; repoId: number; ownerId: number; remoteName?: string }
  | {
      type: "repository.deleted";
      repoId: number;
      ownerId: number;
      name: string;
      /**
       * The payload for webhooks: the repository can't be read any more. Removed once dispatched.
       */
      lastPayload: RepositoryPayload;
    }
  | {
      type: "repository.pushed";
      repoId: number;
      ownerId: number;
      pushId: string;
      /** A push of very many refs makes several events, numbered from 0. */
      part: number;
      /**
       * Whether nothing may follow from it in other repositories: its credential reaches less than
       * its account.
       */
      isConfined?: true;
      /** Whether a mirror took the updates over from its remote. Nobody pushed them. */
      isMirror?: true;
      /** Refs updated by all events of the push. */
      refCount: number;
      /** For a branch whose commits are known: its latest new commits, and their number. */
      updates: StoredUpdate[];
    };
