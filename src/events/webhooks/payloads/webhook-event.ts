import type { Oid } from "../../../git/oid.ts";
import type { Event } from "../../event.ts";
import type { RepositoryPayload } from "../../../shapes/webhooks/repository-payload.ts";

/** A ref that was moved; null where there was none, or is none any more. */
export interface RefChange {
  /** Full name. */
  readonly ref: string;
  readonly before: Oid | null;
  readonly after: Oid | null;
}

/** Something that hooks are told of. It names rows: what they hold is read for the payload. */
export type WebhookEvent =
  | { readonly event: "repository"; readonly repoId: number; readonly action: "created" }
  /** What is gone can't be read any more. */
  | {
      readonly event: "repository";
      readonly repoId: number;
      readonly action: "deleted";
      readonly body: RepositoryPayload;
    }
  /** Of the repository that was forked. */
  | { readonly event: "fork"; readonly repoId: number; readonly forkId: number }
  | ({ readonly event: "create" | "push" | "delete"; readonly repoId: number } & RefChange)
  | {
      readonly event: "status";
      readonly repoId: number;
      readonly commitOid: Oid;
      readonly number: number;
    };

/**
 * What hooks are told of an event, in order; nothing of most. With the event's id, the place in the
 * list names an announcement for good.
 */
export function listWebhookEvents(event: Event): WebhookEvent[] {
  switch (event.type) {
    case "repository.created":
      return [{ event: "repository", repoId: event.repoId, action: "created" }];
    case "repository.deleted":
      return [
        { event: "repository", repoId: event.repoId, action: "deleted", body: event.lastPayload },
      ];
    case "repository.forked":
      return [
        { event: "fork", repoId: event.parentId, forkId: event.repoId },
        { event: "repository", repoId: event.repoId, action: "created" },
      ];
    case "repository.pushed":
      return event.updates.flatMap((update) => listOfRef(event.repoId, update));
    case "commit_status.created": {
      const { repoId, commitOid, number } = event;
      return [{ event: "status", repoId, commitOid, number }];
    }
    default:
      return [];
  }
}

/** Kinds of events that hooks are told of, if there are any. */
const ANNOUNCED: ReadonlySet<Event["type"]> = new Set([
  "repository.created",
  "repository.deleted",
  "repository.forked",
  "repository.pushed",
  "commit_status.created",
] as const);

export const hasWebhookEvents = (type: Event["type"]): boolean => ANNOUNCED.has(type);

/** A branch that is deleted makes no push; what is neither branch nor tag is not told. */
function listOfRef(repoId: number, { ref, before, after }: RefChange): WebhookEvent[] {
  const kind = kindOfRef(ref);
  if (kind === undefined || (before === null && after === null)) return [];
  const tell = (event: "create" | "push" | "delete"): WebhookEvent => ({
    event,
    repoId,
    ref,
    before,
    after,
  });
  if (after === null) return kind === "tag" ? [tell("push"), tell("delete")] : [tell("delete")];
  if (before !== null) return [tell("push")];
  return kind === "tag" ? [tell("push"), tell("create")] : [tell("create"), tell("push")];
}

const PREFIXES = { branch: "refs/heads/", tag: "refs/tags/" } as const;

/** Undefined for what is neither. */
export function kindOfRef(ref: string): "branch" | "tag" | undefined {
  if (ref.startsWith(PREFIXES.branch)) return "branch";
  return ref.startsWith(PREFIXES.tag) ? "tag" : undefined;
}

/** A branch or tag without the folder it is in. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, "");
