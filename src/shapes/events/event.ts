import { z } from "@hono/zod-openapi";

import type { EventRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { toSnakeCase } from "../../lib/to-snake-case.ts";
import { Int64, Time } from "../json.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { ACCOUNT_PAYLOADS } from "./payloads/account-payloads.ts";
import { CODE_PAYLOADS } from "./payloads/code-payloads.ts";
import { ISSUE_PAYLOADS } from "./payloads/issue-payloads.ts";
import { PULL_PAYLOADS } from "./payloads/pull-payloads.ts";
import { LABEL_PAYLOADS } from "./payloads/label-payloads.ts";
import { MILESTONE_PAYLOADS } from "./payloads/milestone-payloads.ts";
import { OAUTH_PAYLOADS } from "./payloads/oauth-payloads.ts";
import { ORGANIZATION_PAYLOADS } from "./payloads/organization-payloads.ts";
import { PACKAGE_PAYLOADS } from "./payloads/package-payloads.ts";
import { RELEASE_PAYLOADS } from "./payloads/release-payloads.ts";
import { REPOSITORY_PAYLOADS } from "./payloads/repository-payloads.ts";
import { SOCIAL_PAYLOADS } from "./payloads/social-payloads.ts";
import { TIME_PAYLOADS } from "./payloads/time-payloads.ts";
import { WEBHOOK_PAYLOADS } from "./payloads/webhook-payloads.ts";
import { WIKI_PAYLOADS } from "./payloads/wiki-payloads.ts";
import { WORKFLOW_PAYLOADS } from "./payloads/workflow-payloads.ts";

/**
 * The payload of each kind of event, beside the fields that all events share.
 *
 * SECURITY: only the fields named in these shapes leave the service.
 */
export const EVENT_PAYLOADS = {
  ...REPOSITORY_PAYLOADS,
  ...CODE_PAYLOADS,
  ...ISSUE_PAYLOADS,
  ...PULL_PAYLOADS,
  ...LABEL_PAYLOADS,
  ...MILESTONE_PAYLOADS,
  ...RELEASE_PAYLOADS,
  ...WIKI_PAYLOADS,
  ...WORKFLOW_PAYLOADS,
  ...PACKAGE_PAYLOADS,
  ...TIME_PAYLOADS,
  ...WEBHOOK_PAYLOADS,
  ...SOCIAL_PAYLOADS,
  ...ACCOUNT_PAYLOADS,
  ...OAUTH_PAYLOADS,
  ...ORGANIZATION_PAYLOADS,
} as const;

/** The recorded kinds of events. */
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
      .openapi({ description: "The kind of event, which determines the fields of the payload" }),
    /** Null if there is no actor, or the caller may not see the account. */
    actor: User.nullable(),
    /** By its current name; null for events of accounts, and if the repository was deleted. */
    repository: EventRepository.nullable(),
    payload: z.record(z.string(), z.unknown()),
    created_at: Time,
  })
  .openapi("Event");

export const EventPage = z
  .object({
    events: z.array(SomeEvent),
    next: Int64.openapi({ description: "The value of `after` for the next page" }),
  })
  .openapi("EventPage");

/**
 * An event as queries return it. Actor and repository are undefined if the viewer may not see them.
 */
export interface EventEntry {
  readonly event: EventRow;
  readonly actor: UserRow | undefined;
  readonly repo: { readonly id: number; readonly name: string; readonly owner: string } | undefined;
}

/** Formats an event for `viewer`. */
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

/**
 * Formats the payload of an event; empty for an unknown kind, which another version may have
 * recorded.
 */
function toPayload({ type, payload }: EventRow): Record<string, unknown> {
  const stored = Object.entries(payload).map(([name, value]) => [toSnakeCase(name), value]);
  const shape: z.ZodType<object> | undefined = EVENT_PAYLOADS[type as EventKind];
  return { ...shape?.safeParse(Object.fromEntries(stored)).data };
}
