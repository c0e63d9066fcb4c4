import { z } from "@hono/zod-openapi";

import type { EventRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { ACCOUNT_PAYLOADS } from "./payloads/account-payloads.ts";
import { CODE_PAYLOADS } from "./payloads/code-payloads.ts";
import { ORGANIZATION_PAYLOADS } from "./payloads/organization-payloads.ts";
import { REPOSITORY_PAYLOADS } from "./payloads/repository-payloads.ts";
import { SOCIAL_PAYLOADS } from "./payloads/social-payloads.ts";
import { WEBHOOK_PAYLOADS } from "./payloads/webhook-payloads.ts";

/**
 * The payload of each kind of event, beside the fields that all events share.
 *
 * SECURITY: only the fields named in these shapes leave the service.
 */
export const EVENT_PAYLOADS = {
  ...REPOSITORY_PAYLOADS,
  ...CODE_PAYLOADS,
  ...WEBHOOK_PAYLOADS,
  ...SOCIAL_PAYLOADS,
  ...ACCOUNT_PAYLOADS,
  ...ORGANIZATION_PAYLOADS,
} as const;

/** The kinds of events that are recorded. */
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

/** The payload of an event. A kind that another version of the service recorded may be unknown here. */
function toPayload({ type, payload }: EventRow): Record<string, unknown> {
  const stored = Object.entries(payload).map(([name, value]) => [toSnakeCase(name), value]);
  const shape: z.ZodType<object> | undefined = EVENT_PAYLOADS[type as EventKind];
  return { ...shape?.safeParse(Object.fromEntries(stored)).data };
}

/** `isPrivate` → `is_private`. */
const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
