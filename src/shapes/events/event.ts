import { z } from "@hono/zod-openapi";

import type { EventRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

const Named = z.object({ name: z.string() });
const Renamed = z.object({ from: z.string(), to: z.string() });
const Edited = z.object({ changed: z.array(z.string()) });
const Nothing = z.object({});
const Locked = z.object({ path: z.string() });
const Membership = z.object({ user_id: Int64, team_id: Int64 });
const PublicKey = z.object({ fingerprint: z.string() });
const GpgKey = z.object({ key_id: z.string() });
const Hook = z.object({ hook_id: Int64 });

const Push = z.object({
  push_id: z.string(),
  ref_count: Int64.openapi({
    description: "Refs that were moved, by all events of the push: very many make several",
  }),
  updates: z.array(
    z.object({ ref: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
});

const Status = z.object({
  commit_oid: z.string(),
  number: Int64,
  state: z.string(),
  context: z.string(),
});

/**
 * What each kind of event tells beside what all tell.
 *
 * SECURITY: only what is named here leaves the service. A fork's parent is left out: that somebody
 * may see the fork says nothing of it.
 */
export const EVENT_PAYLOADS = {
  "repository.created": Named,
  "repository.forked": Nothing,
  "repository.edited": Edited,
  "repository.renamed": Renamed,
  "repository.visibility_changed": z.object({ is_private: z.boolean() }),
  "repository.deleted": Named,
  "repository.pushed": Push,
  "repository.topics_changed": Nothing,
  "commit_status.created": Status,
  "lfs_lock.created": Locked,
  "lfs_lock.deleted": Locked,
  "hook.created": Hook,
  "hook.edited": Hook,
  "hook.deleted": Hook,
  "hook.tested": Hook,
  "hook.paused": Hook,
  "hook.redelivered": Hook,
  "star.created": Nothing,
  "star.deleted": Nothing,
  "watch.created": Nothing,
  "watch.deleted": Nothing,
  "follow.created": Nothing,
  "follow.deleted": Nothing,
  "user.created": Named,
  "user.edited": Edited,
  "user.renamed": Renamed,
  "organization.created": Named,
  "organization.member_added": Membership,
  "organization.member_removed": Membership,
  "organization.member_visibility_changed": z.object({ is_public: z.boolean() }),
  "email.added": Nothing,
  "email.removed": Nothing,
  "access_token.created": Named,
  "access_token.deleted": Named,
  "public_key.added": PublicKey,
  "public_key.removed": PublicKey,
  "gpg_key.added": GpgKey,
  "gpg_key.verified": GpgKey,
  "gpg_key.removed": GpgKey,
} as const;

/** The kinds that can be told; whatever is recorded is one of them. */
export type EventKind = keyof typeof EVENT_PAYLOADS;

const EventRepository = z.object({
  id: Int64,
  name: z.string(),
  full_name: z.string().openapi({ example: "alice/project" }),
});

const SomeEvent = z
  .object({
    id: Int64,
    type: z
      .enum(Object.keys(EVENT_PAYLOADS) as EventKind[])
      .openapi({ description: "The kind, which says what the payload holds" }),
    /** Null for nobody, and for an account that hides from the caller. */
    actor: User.nullable(),
    /** As it is called now; null where the event is about an account, or the repository is gone. */
    repository: EventRepository.nullable(),
    payload: z.record(z.string(), z.unknown()),
    created_at: Time,
  })
  .openapi("Event");

export const EventPage = z
  .object({
    events: z.array(SomeEvent),
    next: Int64.openapi({ description: "What `after` is to be for the events that follow" }),
  })
  .openapi("EventPage");

/** An event as queries bring it, with what of it the viewer may see. */
export interface EventEntry {
  readonly event: EventRow;
  readonly actor: UserRow | undefined;
  readonly repo: { readonly id: number; readonly name: string; readonly owner: string } | undefined;
}

/** An event as `viewer` sees it. */
export function toEvent(
  { event, actor, repo }: EventEntry,
  viewer: Viewer,
): z.infer<typeof SomeEvent> {
  return {
    id: event.id,
    type: event.type as EventKind,
    actor: actor ? toUser(actor, viewer) : null,
    repository: repo
      ? { id: repo.id, name: repo.name, full_name: `${repo.owner}/${repo.name}` }
      : null,
    payload: toPayload(event),
    created_at: formatTime(event.createdAt),
  };
}

/** What an event tells beside what all tell. One that another version recorded may be of no kind known here. */
function toPayload({ type, payload }: EventRow): Record<string, unknown> {
  const stored = Object.entries(payload).map(([name, value]) => [toSnakeCase(name), value]);
  const shape: z.ZodType<object> | undefined = EVENT_PAYLOADS[type as EventKind];
  return { ...shape?.safeParse(Object.fromEntries(stored)).data };
}

/** `isPrivate` → `is_private`. */
const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
