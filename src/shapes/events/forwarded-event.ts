import type { User as UserRow } from "../../db/schema/index.ts";
import { encodeUtf8 } from "../../git/byte-text.ts";
import { type EventEntry, toEvent } from "./event.ts";
import { toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

/** Maximum size of a queue message in bytes, without the queue's own overhead. */
const MESSAGE_BYTES_MAX = 127_000;

/** An event as sent to the operator's queue. */
export type ForwardedEvent = Omit<ReturnType<typeof toEvent>, "payload"> & {
  /** The account that the event belongs to; null for events of the service. */
  readonly owner: ReturnType<typeof toUser> | null;
  /** Null if the message would be too large with it. */
  readonly payload: Record<string, unknown> | null;
  /** Set if the payload was removed. */
  readonly truncated?: true;
};

/** Formats an event as a queue message, and returns its size in bytes. */
export function toForwardedEvent(
  entry: EventEntry,
  owner: UserRow | undefined,
  viewer: Viewer,
): { message: ForwardedEvent; bytes: number } {
  const message = { ...toEvent(entry, viewer), owner: owner ? toUser(owner, viewer) : null };
  const bytes = sizeOf(message);
  if (bytes <= MESSAGE_BYTES_MAX) return { message, bytes };
  const withoutPayload = { ...message, payload: null, truncated: true } as const;
  return { message: withoutPayload, bytes: sizeOf(withoutPayload) };
}

const sizeOf = (message: object): number => encodeUtf8(JSON.stringify(message)).length;
